"""What every estimator of tables takes and says of itself, declared and documented once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sklearn.base import BaseEstimator

from seminaive.encode.table_tags import of_tables
from seminaive.models.inherited_docstrings import complete_docstrings

if TYPE_CHECKING:
    from typing import Self

# Steps of a fit that other rooms take and that are not public: completion does not offer them.
STEPS = frozenset(
    {
        *("adopt_columns", "anchored", "attenuate", "binning_rule", "check_parameters", "chooses_by_folds"),
        "count_rows",
        *("effect_errors", "encode", "fit_loss", "fit_path", "fit_rows", "fit_searched", "fit_statistics"),
        *(
            "greedy_grows_generative",
            "knows_labels",
            "penalty_toward",
            "restore",
            "ridge_penalty",
            "row_loss",
        ),
        *("score_posterior", "solvers", "start_model", "target_of"),
    }
)


@dataclass(eq=False, repr=False, kw_only=True)
class TableEstimator(BaseEstimator):
    """An estimator of ordinary tables.

    What a base class says of parameters, attributes and arguments of methods becomes a part of the docstrings
    of its subclasses, unless these say something else.

    Parameters
    ----------
    categorical_features : {"from_dtype", "all"}, names, positions or mask, default="from_dtype"
        Which columns are categories: those that do not hold numbers, all, or those and the listed ones.

    Attributes
    ----------
    schema_ : Schema
        Names, kinds, categories and cut points of the columns.
    """

    categorical_features: Any = "from_dtype"

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        complete_docstrings(cls, [base for base in cls.__mro__[1:] if issubclass(base, TableEstimator)])

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if name not in STEPS]

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that text, categories and missing cells are welcome."""
        return of_tables(super().__sklearn_tags__())

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from a table.

        Parameters
        ----------
        X : frame, array or list of rows
        y : array-like of shape (n_rows,)
            Class labels: text, whole numbers or booleans.
        sample_weight : array-like of shape (n_rows,), default=None
            How much each row matters. Where folds choose, only the ratios of weights do; else whole weights
            equal repeated rows.
        groups : array-like of shape (n_rows,), default=None
            Rows that belong together: folds hold them out together, and a splitter in ``cv`` is given them.
        """
        raise NotImplementedError
