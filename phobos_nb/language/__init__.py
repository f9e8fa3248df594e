"""The Phobos language: text to typed kernels, and their NumPy meaning."""
