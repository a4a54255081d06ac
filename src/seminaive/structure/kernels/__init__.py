"""Loops of structure learning and imputation, compiled by numba."""
