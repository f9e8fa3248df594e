"""The bundled kernels against what a user would pick instead, on one GPU."""
