"""What scikit-learn may expect of estimators that read tables as they are."""

from typing import Any


def of_tables(tags: Any) -> Any:
    """Return an estimator's tags, which then say that text, categories and missing cells are welcome."""
    tags.input_tags.string = True
    tags.input_tags.categorical = True
    tags.input_tags.allow_nan = True
    return tags
