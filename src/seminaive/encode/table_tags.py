"""What scikit-learn may expect of estimators that read tables as they are."""

from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from seminaive.encode.frame_parts import training_columns
from seminaive.errors import InputError, TableTypeError


def of_tables(tags: Any) -> Any:
    """Return an estimator's tags, which then say that text, categories and missing cells are welcome."""
    tags.input_tags.string = True
    tags.input_tags.categorical = True
    tags.input_tags.allow_nan = True
    return tags


def check_columns(estimator: BaseEstimator, X: Any, *, reset: bool) -> None:
    """Remember, or compare, the number and names of columns as scikit-learn does; refuse with our errors."""
    try:
        validate_data(estimator, X, skip_check_array=True, reset=reset)
    except TypeError as error:
        raise TableTypeError(str(error)) from error
    except ValueError as error:
        raise InputError(str(error)) from error


def by_name(estimator: BaseEstimator, X: Any) -> Any:
    """Return rows with the columns that an estimator was fitted to, where both have names."""
    names = getattr(estimator, "feature_names_in_", None)
    return X if names is None else training_columns(X, names.tolist())
