"""Candidates of forward stagewise naive Bayes the plain way: all scores anew, in vectorised NumPy."""

import numpy as np


class PlainNumbers:
    """Training errors of naive Bayes on numbers, every feature's likelihood computed for every candidate."""

    def __init__(self, X, y):
        self.X, self.y = X, y
        n_classes = int(y.max()) + 1
        self.log_prior = np.log(np.bincount(y) / len(y))
        self.mean, self.deviation = X.mean(axis=0)[:, None], X.std(axis=0)[:, None]
        self.class_mean = np.array([X[y == c].mean(axis=0) for c in range(n_classes)]).T
        self.class_deviation = np.array([X[y == c].std(axis=0) for c in range(n_classes)]).T

    def error(self, alphas):
        """Return the training error with every feature at its alpha."""
        alpha = alphas[:, None]
        mean = alpha * self.class_mean + (1 - alpha) * self.mean
        deviation = alpha * self.class_deviation + (1 - alpha) * self.deviation
        z = (self.X[:, :, None] - mean) / deviation
        scores = self.log_prior - np.log(deviation).sum(axis=0) - 0.5 * (z * z).sum(axis=1)
        return (scores.argmax(axis=1) != self.y).mean()


class PlainCategories:
    """The same for categories of equally many values, given as codes."""

    def __init__(self, codes, y):
        self.y, n_values, n_classes = y, int(codes.max()) + 1, int(y.max()) + 1
        self.log_prior = np.log(np.bincount(y) / len(y))
        counts = np.ones((codes.shape[1], n_values, n_classes))
        for j, column in enumerate(codes.T):
            np.add.at(counts[j], (column, y), 1)
        self.by_class = counts / counts.sum(axis=1, keepdims=True)
        self.pooled = counts.sum(axis=2, keepdims=True) / counts.sum(axis=(1, 2), keepdims=True)
        self.place = (np.arange(codes.shape[1]), codes)

    def error(self, alphas):
        """Return the training error with every feature at its alpha."""
        alpha = alphas[:, None, None]
        tables = np.log(alpha * self.by_class + (1 - alpha) * self.pooled)
        scores = self.log_prior + tables[self.place].sum(axis=1)
        return (scores.argmax(axis=1) != self.y).mean()
