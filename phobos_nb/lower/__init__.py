"""Lowering: typed kernel -> tile MLIR -> thread MLIR, one pass per file."""
