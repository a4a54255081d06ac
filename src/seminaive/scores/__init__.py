"""Additive scores: what every additive model is once it is fitted."""
