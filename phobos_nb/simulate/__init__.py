"""Thread MLIR executed over NumPy lanes, with the rules of the GPU.

`simulate` (in `launch`) runs a module; `records` holds what it reports.
"""
