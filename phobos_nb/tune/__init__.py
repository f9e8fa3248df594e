"""Tuning: which values of a kernel's open names are fastest, measured, checked and remembered."""
