"""The stages in order, and what users hold: modules, kernels, compilations."""
