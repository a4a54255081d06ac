"""The classifier that finds its own place between naive Bayes and logistic regression with interactions."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from joblib import effective_n_jobs

from seminaive.design.smooth_columns import SmoothColumns
from seminaive.design.smooth_scores import cell_weights, smooth_scores
from seminaive.encode import EqualFrequencyCuts, frame_like
from seminaive.errors import InputError
from seminaive.models.additive import AdditiveClassifier
from seminaive.models.base import unchanged_on_failure
from seminaive.models.parameters import check_search, is_whole
from seminaive.selection.folds import check_folds, split_rows
from seminaive.selection.kernel_engine import KernelEngine
from seminaive.selection.projected_engine import ProjectedEngine
from seminaive.selection.relevance_search import RelevanceSearch

# Bins of numbers in pairs.
PAIR_BINS = 8
# From so many rows on there are fewer folds and one sweep of the first climb.
MANY_ROWS = 3000
MOST_FOLDS, FEW_FOLDS = 5, 3


class SemiNaive(AdditiveClassifier):
    def __init__(
        self,
        *,
        interactions="all",
        cv="auto",
        tol=1e-4,
        max_iter=100,
        n_jobs=None,
        random_state=0,
        categorical_features="from_dtype",
        missing="value",
        class_weight=None,
        keep_summary=True,
        verbose=False,
    ):
        self.interactions = interactions
        self.cv = cv
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.categorical_features = categorical_features
        self.missing = missing
        self.class_weight = class_weight
        self.keep_summary = keep_summary
        self.verbose = verbose

    def fit(self, X, y, sample_weight=None, groups=None):
        self._check_parameters()
        with unchanged_on_failure(self):
            rule = EqualFrequencyCuts(PAIR_BINS)
            rows = self._encode_training(X, y, sample_weight, cut_rule=rule)
            splits = split_rows(self._cv(rows), rows.labels, y, sample_weight, self.random_state, groups)
            columns = SmoothColumns.of(rows.table, rows.weights, rows.n_classes, None)
            with self._progress("trials") as step:
                import os
                n,p=len(rows.labels),columns.sizes.sum()
                kind = KernelEngine if (n<=1000 and p>n/2) else ProjectedEngine
                if os.environ.get("ENGINE"): kind={"k":KernelEngine,"p":ProjectedEngine}[os.environ["ENGINE"]]
                engine = kind(columns, rows.table, rows.labels, rows.weights, rows.n_classes, splits)
                search = RelevanceSearch(engine, 2 if len(rows.labels) < MANY_ROWS else 1, self.tol, self.max_iter, step)
                answer = search.run()
            self.temperature_ = answer.temperature; self.belief_=answer.belief
            self.n_trials_ = len(search.trials)
            self.scores_ = smooth_scores(columns, answer.coefficients, rows.table, rows.weights)
        return self

    def _cv(self, rows):
        if isinstance(self.cv, str):
            return MOST_FOLDS if len(rows.labels) < MANY_ROWS else FEW_FOLDS
        return self.cv

    def _check_parameters(self):
        check_folds(self.cv, "auto")
        check_search(self.tol, self.max_iter)
