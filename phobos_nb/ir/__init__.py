"""The two levels of MLIR that the kit is built on: dialects, text, and upstream's own tools."""
