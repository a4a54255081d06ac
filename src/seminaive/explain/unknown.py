"""What exports need to answer rows with unknown cells as the model does, and what is said of such rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.explain.reading import as_outputs
from seminaive.scores import log_posterior, unknown_cells
from seminaive.scores.attenuation import PER_VARIANCE

if TYPE_CHECKING:
    from seminaive.arrays import Floats
    from seminaive.encode import EncodedTable, Schema
    from seminaive.scores import Attenuation

# Columns that a sentence names.
MOST_NAMED = 3


@dataclass(frozen=True)
class UnknownColumns:
    """The attenuation of scores, for the columns whose unknown cells matter.

    A category is unknown where its code is that of unseen ones, and a number where it is missing. With v the
    sum of ``covariance`` over the unknown columns and ``k = 1 / sqrt(1 + per_variance v)``, the score s
    becomes ``k s + min((1 - k) / most_lost, 1) lack``.

    Parameters
    ----------
    positions : tuple of int
        Columns of the schema.
    covariance : ndarray of shape (n_positions, n_positions)
    lack : ndarray of shape (n_outputs,)
    """

    positions: tuple[int, ...]
    covariance: Floats
    lack: Floats
    most_lost: float

    @classmethod
    def of(cls, attenuation: Attenuation | None, schema: Schema) -> UnknownColumns | None:
        """Keep the columns that matter; None where none does."""
        if attenuation is None or attenuation.most_lost == 0.0:
            return None
        matters = np.abs(attenuation.covariance).sum(axis=1)
        rounding = np.finfo(float).eps * matters.max()
        kept = [
            feature
            for feature, position in enumerate(schema.features)
            if matters[feature] > rounding and schema.can_be_unknown(position)
        ]
        if not kept:
            return None
        return cls(
            tuple(schema.features[feature] for feature in kept),
            attenuation.covariance[np.ix_(kept, kept)],
            as_outputs(attenuation.lack),
            attenuation.most_lost,
        )

    def document(self) -> dict[str, Any]:
        """Return everything as lists and numbers."""
        return {
            "columns": list(self.positions),
            "covariance": self.covariance.tolist(),
            "lack": self.lack.tolist(),
            "most_lost": self.most_lost,
            "per_variance": PER_VARIANCE,
        }


def answered_outputs(model: Any, outputs: Floats, table: EncodedTable) -> Floats:
    """Return the outputs of rows whose sums are given, as the model answers rows with unknown cells."""
    attenuation = model.scores_.attenuation
    if attenuation is None:
        return outputs
    by_output = replace(attenuation, lack=as_outputs(attenuation.lack))
    answered: Floats = by_output.attenuated(outputs, unknown_cells(table))
    return answered


def unknown_names(model: Any, table: EncodedTable) -> list[str]:
    """Return the columns of one row that are unknown, and matter to how sure its answer is."""
    attenuation, schema = model.scores_.attenuation, model.schema_
    if attenuation is None:
        return []
    matters = unknown_cells(table)[0] & (np.abs(attenuation.covariance).sum(axis=1) > 0)
    return [schema.columns[schema.features[feature]].name for feature in np.flatnonzero(matters)]


def unknown_note(model: Any, table: EncodedTable, target: int) -> str | None:
    """Return a sentence on a row with unknown cells: contributions add up to another probability.

    Parameters
    ----------
    model : a fitted additive model
    table : EncodedTable
        Of one row.
    target : int
        The position of the class whose probability is stated.
    """
    names = unknown_names(model, table)
    if not names:
        return None
    before, after = (
        float(np.exp(log_posterior(scores))[0, target])
        for scores in (model.scores_.sums(table), model.scores_.joint_log_scores(table))
    )
    shown = ", ".join(names[:MOST_NAMED])
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    are = "is" if len(names) == 1 else "are"
    return (
        f"{shown}{more} {are} unknown: contributions add up to {100 * before:.1f} %, and the answer is "
        f"{100 * after:.1f} %, the mean over what unknown cells may hold"
    )
