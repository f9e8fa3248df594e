"""What the built-ins of one family share: checks of operands, NumPy meanings, tile IR."""
