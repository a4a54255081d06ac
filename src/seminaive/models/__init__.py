"""The estimators, one public class per file."""
