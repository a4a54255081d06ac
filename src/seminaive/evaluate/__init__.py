"""Metrics, experiments and statistical comparisons for any scikit-learn classifier."""
