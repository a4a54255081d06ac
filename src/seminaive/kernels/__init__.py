"""Compiled loops: arrays in, arrays out. The only room that imports numba, when a loop is first needed."""
