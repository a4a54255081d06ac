"""What a fitted hybrid model says of itself: its parts, its tree, dependences, and the curve of rates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from seminaive.encode import frame_like
from seminaive.encode.shapes import check_shapes
from seminaive.models.additive_classifier import AdditiveClassifier

if TYPE_CHECKING:
    from seminaive.arrays import Floats
    from seminaive.selection import FoldLosses
    from seminaive.structure import Partition


class FittedHybrid(AdditiveClassifier):
    """A classifier whose features are divided into a logistic and a generative part.

    A subclass sets, besides the scores, ``features_``, ``partition_`` and ``normalized_information_``;
    ``tree_parents_``, ``fold_losses_`` and ``fold_sizes_`` where it has them.
    """

    features_: tuple[str, ...]
    partition_: Partition
    normalized_information_: Floats
    tree_parents_: tuple[int, ...]
    fold_losses_: FoldLosses
    fold_sizes_: Floats

    @property
    def logistic_features_(self) -> list[str]:
        """The names of the features of the logistic part."""
        return [self.features_[j] for j in self.partition_.logistic]

    @property
    def generative_features_(self) -> list[str]:
        """The names of the features of the generative part."""
        return [self.features_[j] for j in self.partition_.generative]

    @property
    def parents_(self) -> dict[str, str | None]:
        """The parent of each feature of a tree-augmented generative part, by name."""
        if not hasattr(self, "tree_parents_"):
            raise AttributeError("parents_ exists where generative='tan'")
        parents = {j: self.tree_parents_[j] for j in self.partition_.generative}
        return {self.features_[j]: None if k < 0 else self.features_[k] for j, k in parents.items()}

    @property
    def dependence_(self) -> Any:
        """Normalised mutual information of each pair of features given the class, as a frame."""
        matrix = dict(zip(self.features_, self.normalized_information_.T, strict=True))
        lead = "feature" if "feature" not in matrix else "features"
        return frame_like(None, {lead: self.features_, **matrix})

    @property
    def rate_curve_(self) -> Any:
        """The cross-validated loss of each rate, as a frame."""
        if not hasattr(self, "fold_losses_"):
            raise AttributeError("rate_curve_ exists where rate='cv' and partition='bias-variance'")
        curve = self.fold_losses_
        return frame_like(
            None,
            {
                "rate": curve.strengths,
                "loss": curve.mean,
                "standard_error": curve.standard_error,
                "n_logistic": self.fold_sizes_,
            },
        )

    def _check_consistent(self) -> None:
        super()._check_consistent()
        n_features = len(self.features_)
        parts = sorted([*self.partition_.logistic, *self.partition_.generative])
        if not set(self.features_) <= set(self.schema_.names) or parts != list(range(n_features)):
            raise ValueError("the parts of the model do not divide its features")
        if any(not 0 <= decision.feature < n_features for decision in self.partition_.trace):
            raise ValueError("a decision is about a feature that does not exist")
        if self.normalized_information_.shape != (n_features, n_features):
            raise ValueError("the dependences do not fit the features")
        if hasattr(self, "fold_losses_"):
            check_shapes("the curve of rates", [(self.fold_sizes_, self.fold_losses_.strengths.shape)])
        parents = getattr(self, "tree_parents_", (-1,) * n_features)
        if len(parents) != n_features or not all(-1 <= j < n_features for j in parents):
            raise ValueError("the tree does not fit the features")
