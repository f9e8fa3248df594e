"""From thread-level MLIR to CUDA C++, cubins and launches; the only importer of CuPy."""
