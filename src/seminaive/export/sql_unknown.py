"""Rows with unknown cells in SQL: relations between the scores and the probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seminaive.encode import CategoricalColumn
from seminaive.export.sql_literals import number_literal, quoted_name
from seminaive.scores.attenuation import PER_VARIANCE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seminaive.encode import Schema
    from seminaive.explain.portable import Portable


class UnknownRelations:
    """Flags of unknown cells, the variance that they leave to scores, and scores that allow for it.

    A model that answers all rows by their sums has none of these relations.
    """

    portable: Portable
    schema: Schema
    dialect: str
    larger: str

    @property
    def scored(self) -> str:
        """Return the relation of the scores of which probabilities are made."""
        return "scores" if self.portable.unknown is None else "attenuated"

    @property
    def flagged(self) -> str:
        """Return the relation of codes, with flags where there are some, under the name of coded."""
        return "coded" if self.portable.unknown is None else "flagged AS coded"

    def flags(self) -> list[str]:
        """Return the relation that adds to codes which cells are unknown, u and their position; or none."""
        unknown = self.portable.unknown
        if unknown is None:
            return []
        flags = [
            f"CASE WHEN {self.is_unknown(position)} THEN 1.0 ELSE 0.0 END AS u{position}"
            for position in unknown.positions
        ]
        return [f"flagged AS (SELECT coded.*, {', '.join(flags)} FROM coded)"]

    def is_unknown(self, position: int) -> str:
        """Return the condition under which a cell is unknown."""
        column = self.schema.columns[position]
        if isinstance(column, CategoricalColumn):
            return f"c{position} = {self.schema.n_values(column)}"
        return f"x{position} IS NULL"

    def variance(self) -> list[str]:
        """Return how much the score of each row may vary with its unknown cells; or none."""
        unknown = self.portable.unknown
        if unknown is None:
            return []
        parts = []
        for j, position in enumerate(unknown.positions):
            beside = [number_literal(unknown.covariance[j, j])]
            beside += [
                f"u{other} * {number_literal(2 * unknown.covariance[j, k])}"
                for k, other in enumerate(unknown.positions[:j])
            ]
            parts.append(f"u{position} * ({' + '.join(beside)})")
        return [f"{' + '.join(parts)} AS variance"]

    def attenuated(self, keep: Sequence[str], *, numbered: bool) -> list[str]:
        """Return the relations of factors and of attenuated scores; or none."""
        unknown = self.portable.unknown
        if unknown is None:
            return []
        carried = [*map(quoted_name, keep), *(["row_id"] if numbered else [])]
        scores = [f"s{k}" for k in range(self.portable.n_outputs)]
        smaller = "min" if self.dialect == "sqlite" else "least"
        root = f"sqrt(1.0 + {number_literal(PER_VARIANCE)} * {self.larger}(variance, 0.0))"
        share = f"{smaller}((1.0 - factor) / {number_literal(unknown.most_lost)}, 1.0)"
        changed = [
            f"factor * {score} + {share} * {number_literal(lack)} AS {score}"
            for score, lack in zip(scores, unknown.lack, strict=True)
        ]
        return [
            f"factors AS (SELECT {', '.join([*carried, *scores])}, 1.0 / {root} AS factor FROM scores)",
            f"attenuated AS (SELECT {', '.join([*carried, *changed])} FROM factors)",
        ]
