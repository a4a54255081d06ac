"""Compiled loops: arrays in, arrays out. The only room that imports numba."""

from seminaive.kernels import compilation

__all__ = ["compilation"]
