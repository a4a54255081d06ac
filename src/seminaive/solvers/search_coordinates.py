"""The coordinates in which the smooth solvers search, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from seminaive.design.coarse_table import MOST_COARSE
from seminaive.objective.coordinates import LEAST_CURVATURE, Coordinates, Whitening

if TYPE_CHECKING:
    from seminaive.arrays import Floats
    from seminaive.design.coefficients import GenerativeEstimate
    from seminaive.design.table_design import TableDesign
    from seminaive.objective.penalised_loss import PenalisedLoss

SCALINGS = ("none", "generative", "curvature")


def scale_of(scaling: str, curvature: Floats, strength: Floats, estimate: GenerativeEstimate) -> Floats:
    """Return the scale of each coefficient: 1, the length of log theta, or 1 / sqrt(curvature + ridge).

    Parameters
    ----------
    scaling : {"none", "generative", "curvature"}
    curvature : ndarray of shape (n_coefficients, 1)
        The diagonal of the loss's Hessian where all scores are 0.
    strength : ndarray of shape (n_coefficients, 1) or (n_coefficients, n_columns)
    """
    lengths = estimate.lengths
    if scaling == "none":
        scale = np.ones_like(lengths)
    elif scaling == "generative":
        scale = lengths
        scale[len(scale) - estimate.coefficients.n_numbers :] = 1.0
    else:
        scale = np.broadcast_to(
            1.0 / np.sqrt(np.maximum(curvature + strength, LEAST_CURVATURE)), lengths.shape
        ).copy()
    scale[estimate.coefficients.fixed] = 0.0
    return scale


def search_coordinates(
    scaling: str,
    objective: PenalisedLoss,
    design: TableDesign,
    estimate: GenerativeEstimate,
    *,
    whiten: bool,
) -> tuple[Coordinates, float | None]:
    """Return the coordinates, and a first step along the gradient that surely descends from zero, if known.

    With ``whiten``, a model of single features whose classes are penalised alike, and which is not too wide,
    has coordinates in which the Hessian at zero is the identity: the first step is then a Newton step.
    Otherwise, scaled by its diagonal, the Hessian of a sum of T terms, numbers and an intercept is at most
    T + 1 along any direction.
    """
    loss, strength = objective.loss, objective.ridge.strength
    curvature = loss.variance_at_zero * loss.squared_columns()
    scale = scale_of(scaling, curvature, strength, estimate)
    if scaling != "curvature":
        return Coordinates(scale), None
    members = design.coefficients.first_order
    ridge = strength[members]
    first_step = 1.0 / (1 + len(design.coefficients.terms.features) + design.n_numbers)
    if not whiten or (design.orders > 1).any() or len(members) > MOST_COARSE or (ridge != ridge[:, :1]).any():
        return Coordinates(scale), first_step
    hessian = loss.variance_at_zero * loss.gram(members) + np.diag(ridge[:, 0])
    scale[members] = 1.0
    return Coordinates(scale, Whitening.of(members, hessian)), 1.0
