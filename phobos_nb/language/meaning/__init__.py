"""The NumPy meaning of a typed kernel: the oracle, and how NumPy arrays are computed on the CPU."""
