"""What a fitted model is worth on rows that it has not seen."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

SMALLEST_PROBABILITY = 1e-15


@dataclass(frozen=True)
class Judged:
    """The model fitted in a trial, and its probabilities of the classes 0, 1, ... on test rows."""

    trial: tuple
    model: Any
    probabilities: np.ndarray
    y_train: np.ndarray
    y_test: np.ndarray

    def error(self):
        """Return the 0-1 loss."""
        return np.mean(self.probabilities.argmax(axis=1) != self.y_test)

    def log_loss(self):
        """Return the mean negative log probability of the classes found."""
        return log_loss(self.probabilities, self.y_test)

    def shares_log_loss(self):
        """Return the log loss of a model that answers the class shares of the training rows."""
        shares = np.bincount(self.y_train, minlength=self.probabilities.shape[1]) / len(self.y_train)
        return log_loss(np.broadcast_to(shares, self.probabilities.shape), self.y_test)

    def auc(self):
        """Return the area under the ROC curve, the mean over classes of one against all others."""
        classes = np.unique(self.y_test)
        if len(classes) == 1:
            return np.nan
        return np.mean([roc_auc_score(self.y_test == c, self.probabilities[:, c]) for c in classes])


def log_loss(probabilities, labels):
    """Return the mean negative log probability of the labels, each at least 1e-15."""
    return -np.log(probabilities[np.arange(len(labels)), labels].clip(SMALLEST_PROBABILITY, 1)).mean()
