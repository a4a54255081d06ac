"""The estimators, one public class per file."""

from seminaive.models.files import load_model, save_model
from seminaive.models.naive_bayes import NaiveBayes

__all__ = ["NaiveBayes", "load_model", "save_model"]
