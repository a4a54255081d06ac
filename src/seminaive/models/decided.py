"""What every cross-validated model keeps of the decision of its search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from seminaive.errors import UnavailableError
from seminaive.models.parameters import check_number

if TYPE_CHECKING:
    from seminaive.selection.decision import Decision

DECIDED: dict[str, Any] = {"fit_share_": float, "cv_log_loss_": float, "cv_log_loss_interval_": tuple}


def keep_decision(model: Any, decision: Decision) -> None:
    """Set the attributes of `DECIDED`."""
    model.fit_share_ = float(decision.fit_share)
    model.cv_log_loss_ = float(decision.log_loss)
    model.cv_log_loss_interval_ = tuple(map(float, decision.log_loss_interval))


class Undecided:
    """Stands in the class of a model for an attribute of `DECIDED`, until a search sets it in the model.

    Parameters
    ----------
    searching : str
        The parameters by which the model searches.
    """

    def __init__(self, searching: str) -> None:
        self.searching = searching

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, model: Any, owner: type) -> Undecided:
        if model is None:
            return self
        raise UnavailableError(f"{self.name} is of held-out rows: fit with {self.searching}")


def generator_of(random_state: Any) -> np.random.Generator:
    """Return the generator that draws held-out rows."""
    return np.random.default_rng(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def groups_of_rows(groups: Any, sample_weight: Any) -> np.ndarray | None:
    """Return the number of the group of each row of positive weight, or None."""
    if groups is None:
        return None
    codes = np.unique(np.asarray(groups), return_inverse=True)[1].ravel()
    return codes if sample_weight is None else codes[np.asarray(sample_weight) > 0]


def check_fit_share(fit_share: Any) -> None:
    """Refuse what is neither "cv" nor a share."""
    if not isinstance(fit_share, str) or fit_share != "cv":
        check_number("fit_share", fit_share, "'cv' or a share between 0 and 1", low=0.0, high=1.0)
