"""The parameters of the hybrid model: what they may be, and what is said of those that are not."""

from __future__ import annotations

from typing import Any

import numpy as np

from seminaive.errors import InputError
from seminaive.models.decided import check_fit_share
from seminaive.models.generative_classifier import check_generative_parameters
from seminaive.models.parameters import check_choice, check_flag, check_number, check_search, is_number
from seminaive.selection.folds import check_folds
from seminaive.selection.held_out import SCORINGS

RULES = ("bias-variance", "dependence", "greedy")
# The tests of a pair of features that may replace a number as the cutoff, by their names in `structure`.
PAIR_TESTS = {"mi": "mi", "chi-square": "x2"}


def check_hybrid_parameters(model: Any) -> None:
    """Refuse parameters that mean nothing."""
    by_rule = isinstance(model.partition, str) or not np.iterable(model.partition)
    if by_rule and model.partition not in RULES:
        raise InputError(
            f"partition is one of {', '.join(map(repr, RULES))}, or a list of the names of the logistic "
            f"features, got {model.partition!r}"
        )
    unlimited = isinstance(model.rate, float) and model.rate == np.inf
    by_folds = isinstance(model.rate, str) and model.rate == "cv"
    if not by_folds and not unlimited and not (is_number(model.rate) and model.rate >= 0):
        raise InputError(f"rate is 'cv' or a number per row, 0 to infinity, got {model.rate!r}")
    if not isinstance(model.cutoff, str) or model.cutoff not in PAIR_TESTS:
        expected = "'mi', 'chi-square' or a dependence between 0 and 1"
        check_number("cutoff", model.cutoff, expected, low=0.0, high=1.0)
    check_number("alpha", model.alpha, "a level between 0 and 1", low=0.0, high=1.0, above=True)
    check_choice("generative", model.generative, ("naive-bayes", "tan"))
    check_choice("numbers", model.numbers, ("normal", "bins"))
    check_fit_share(model.fit_share)
    for name in ("joint", "missing_to_generative", "numbers_to_logistic"):
        check_flag(name, getattr(model, name))
    if not isinstance(model.blanket, bool | np.bool_ | dict):
        raise InputError(
            f"blanket is True, False or a dict of the parameters of a selector, got {model.blanket!r}"
        )
    check_choice("scoring", model.scoring, SCORINGS)
    check_folds(model.cv)
    check_generative_parameters(model)
    check_number("ridge", model.ridge, "a positive number, in rows", low=0.0, above=True)
    check_search(model.tol, model.max_iter)
