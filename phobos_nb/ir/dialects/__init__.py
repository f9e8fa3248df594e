"""The dialects of tile and thread MLIR; ops that xDSL lacks are defined as upstream prints them."""
