"""Optimisers: arrays in, a certified result out."""
