"""Thread MLIR executed over NumPy lanes, with the rules of the GPU."""
