"""Classifiers between naive Bayes and logistic regression, for ordinary tables."""

__version__ = "0.1.0"
