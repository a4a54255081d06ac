"""Scores under another schema, and sums of scores with one table or curve per term."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from seminaive.encode.joined_schema import codes_before
from seminaive.encode.nodes import read_axis
from seminaive.errors import InputError
from seminaive.scores.additive_scores import AdditiveScores
from seminaive.scores.curve_terms import CurveTerms
from seminaive.scores.numeric_terms import NumericTerms
from seminaive.statistics import Terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from seminaive.arrays import Floats
    from seminaive.encode import Schema
    from seminaive.encode.nodes import Axis

    Block = tuple[tuple[int, ...], Floats]

NumberTerms = TypeVar("NumberTerms", NumericTerms, CurveTerms)


def recoded_scores(scores: AdditiveScores, schema: Schema, joined: Schema) -> AdditiveScores:
    """Return scores over the columns of another schema, which knows the values of all that it shares.

    A column that the other schema lacks carries no evidence: what a term says where it is not known goes to
    the prior, or to the table of the other columns of the term.

    Parameters
    ----------
    schema : Schema
        The coding of the scores.
    joined : Schema
        As `seminaive.encode.joined_schema.joined_schema` returns it.
    """
    if type(scores.terms) is not Terms:
        raise InputError(
            "a model that keeps only the combinations of values that occurred cannot be added to another: "
            "fit it with a lower order"
        )
    before = codes_before(joined, schema)
    prior = scores.prior.copy()
    blocks: list[Block] = []
    for columns, table in _tables(scores):
        features, recoded = _recoded_table(columns, table, before)
        if features:
            blocks.append((features, recoded))
        else:
            prior += recoded
    numeric, away = _renumbered(scores.numeric, schema, joined)
    prior += scores.numeric.coefficients[away, 0].sum(axis=0)
    curves, away = _renumbered(scores.curves, schema, joined)
    prior += scores.curves.missing[away].sum(axis=0)
    terms, tables = _laid_out(blocks, joined.cardinalities, scores.n_classes)
    return AdditiveScores(prior, terms, tables, numeric, curves)


def _tables(scores: AdditiveScores) -> Iterable[Block]:
    """Yield the columns and the table, one axis per column and the classes last, of each tuple."""
    terms = scores.terms
    for term, columns in enumerate(terms.features):
        yield columns, scores.tables[terms.block(term)].reshape(*terms.shape(term), scores.n_classes)


def _recoded_table(columns: tuple[int, ...], table: Floats, before: dict[int, tuple[int, Axis]]) -> Block:
    """Return the columns of a table in another schema, increasing, and its cells there."""
    kept: list[int] = []
    for axis, column in reversed(list(enumerate(columns))):
        if column in before:
            position, its_axis = before[column]
            table = read_axis(table, axis, its_axis)
            kept.insert(0, position)
        else:
            table = np.asarray(table.take(-1, axis=axis))
    order = np.argsort(kept, kind="stable").tolist()
    table = table.transpose(*order, len(kept))
    return tuple(kept[axis] for axis in order), table


def _renumbered(terms: NumberTerms, schema: Schema, joined: Schema) -> tuple[NumberTerms, list[int]]:
    """Return the terms of numbers that another schema has, and the positions of all others."""
    position = {name: j for j, name in enumerate(joined.numeric_names)}
    names = [schema.numeric_names[j] for j in terms.features]
    kept = [term for term, name in enumerate(names) if name in position]
    features = tuple(position[names[term]] for term in kept)
    away = [term for term, name in enumerate(names) if name not in position]
    return replace(terms.restricted(kept), features=features), away


def _laid_out(
    blocks: Sequence[Block], cardinalities: tuple[int, ...], n_classes: int
) -> tuple[Terms, Floats]:
    """Return tables as terms, single columns first, and their cells one after the other."""
    ordered = sorted(blocks, key=lambda block: len(block[0]))
    terms = Terms(tuple(features for features, _ in ordered), tuple(cardinalities))
    cells = [table.reshape(-1, n_classes) for _, table in ordered]
    return terms, np.concatenate([np.empty((0, n_classes)), *cells])


def summed_terms(scores: AdditiveScores) -> AdditiveScores:
    """Return the same scores with one table for each tuple of columns, and one curve for each number.

    Curves are laid on the knots of all that are added up. Polynomials of one number become one where they
    have the same range and scale.
    """
    by_columns: dict[tuple[int, ...], Floats] = {}
    for columns, table in _tables(scores):
        by_columns[columns] = by_columns[columns] + table if columns in by_columns else table
    terms, tables = _laid_out(list(by_columns.items()), scores.terms.cardinalities, scores.n_classes)
    return AdditiveScores(
        scores.prior, terms, tables, _summed_polynomials(scores.numeric), _summed_curves(scores.curves)
    )


def _summed_curves(curves: CurveTerms) -> CurveTerms:
    """Return one curve per number."""
    summed = []
    for number in dict.fromkeys(curves.features):
        terms = [term for term, feature in enumerate(curves.features) if feature == number]
        parts = [slice(curves.starts[term], curves.starts[term + 1]) for term in terms]
        knots = np.unique(np.concatenate([curves.knots[part] for part in parts]))
        values = sum(_interpolated(knots, curves.knots[part], curves.values[part]) for part in parts)
        summed.append((number, knots, values, curves.missing[terms].sum(axis=0)))
    return CurveTerms.of(summed) if summed else curves


def _interpolated(at: Floats, knots: Floats, values: Floats) -> Floats:
    return np.stack([np.interp(at, knots, column) for column in values.T], axis=1)


def _summed_polynomials(terms: NumericTerms) -> NumericTerms:
    """Return one polynomial for each number, range and scale, about the centre of the first."""
    first: dict[tuple[float, ...], int] = {}
    coefficients = terms.coefficients.copy()
    for term, number in enumerate(terms.features):
        shape = (number, *(float(getattr(terms, name)[term]) for name in ("low", "high", "scales")))
        if shape not in first:
            first[shape] = term
            continue
        base = first[shape]
        shift = (terms.centres[base] - terms.centres[term]) * terms.scales[term]
        missing, constant, linear, quadratic = terms.coefficients[term]
        coefficients[base] += np.stack(
            [
                missing,
                constant + shift * (linear + shift * quadratic),
                linear + 2 * shift * quadratic,
                quadratic,
            ]
        )
    return replace(terms, coefficients=coefficients).restricted(list(first.values()))
