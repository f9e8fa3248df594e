"""The checker: syntax trees to typed kernels."""
