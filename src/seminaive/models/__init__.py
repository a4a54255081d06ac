"""The estimators, one public class per file."""

from seminaive.models.naive_bayes import NaiveBayes

__all__ = ["NaiveBayes"]
