"""Sparse Bayesian networks for the diversion of patients: chapter 3 of Tan's dissertation.

The records are those of `seminaive_experiments.papers.veterans`. The protocol is the chapter's: missing
training cells are drawn given the class, a dense network is found by hill climbing on BIC, and the missing
cells are drawn five times from it. Sparse networks and a group lasso are fitted to these completions for a
path of strengths; "test" rows choose one by one standard error of the squared error, and "validation" rows
report.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import softmax

from seminaive.arrays import Floats
from seminaive.encode import TableEncoder
from seminaive.evaluate import run_repetitions
from seminaive.scores import generative_scores, log_posterior
from seminaive.statistics import TableStatistics, Terms, TupleCounts
from seminaive.structure import Network, SparseNetworks, bic_network, complete, draw_codes_given_class
from seminaive.structure.network_folds import PLAN
from seminaive_experiments.papers.reproduction import Reproduction, RunOptions, Tolerance
from seminaive_experiments.papers.veterans import LABEL, LAYERS, MARKOV_BOUNDARY, true_posterior, veterans

__all__ = ["METHODS", "REPRODUCTIONS", "caught", "judge", "one_standard_error"]

Codes = npt.NDArray[Any]

METHODS = ("l1-BN", "BN", "Lasso", "NB")
N_IMPUTATIONS = 5
N_STRENGTHS = 20
# The weakest penalty, as a share of the one that leaves no edge.
WEAKEST = 1e-3
# Shares of the rows that are diverted, for the curve.
DIVERTED = tuple(round(0.05 * step, 2) for step in range(21))
CHAPTERS_ROWS = (913_676, 100_000, 100_000)
QUICK_ROWS = (20_000, 10_000, 10_000)


@dataclass(frozen=True)
class Records:
    """Coded records: features, then the label as the last column.

    Parameters
    ----------
    frame : DataFrame
        The features as they came.
    codes : ndarray of shape (n_rows, n_features + 1)
    cardinalities : tuple of int
        As a code, a missing cell.
    """

    frame: pd.DataFrame
    codes: Codes
    cardinalities: tuple[int, ...]
    names: tuple[str, ...]

    @classmethod
    def draw(cls, n_rows: int, random_state: int) -> "Records":
        """Draw records."""
        dataset = veterans(n_rows, random_state)
        _, table = TableEncoder.learn(dataset.X, missing="neutral")
        sick = (dataset.y == "Y").astype(table.codes.dtype)
        codes = np.column_stack([table.codes, sick])
        return cls(dataset.X, codes, (*table.cardinalities, 2), (*table.schema.names, LABEL))

    def rows(self, part: slice) -> "Records":
        """Return some of the rows."""
        return Records(self.frame[part], self.codes[part], self.cardinalities, self.names)

    @property
    def label(self) -> int:
        """Return the position of the label."""
        return len(self.names) - 1

    @property
    def sick(self) -> Floats:
        """Return 1 where the label is yes."""
        return self.codes[:, self.label].astype(np.float64)

    @property
    def unlabelled(self) -> Codes:
        """Return the codes with the label missing."""
        codes = self.codes.copy()
        codes[:, self.label] = self.cardinalities[self.label]
        return codes

    @property
    def order(self) -> list[int]:
        """Return the nodes in the order of the layers."""
        return [self.names.index(name) for layer in LAYERS for name in layer]

    @property
    def layers(self) -> list[int]:
        """Return the layer of each node."""
        return [next(k for k, layer in enumerate(LAYERS) if name in layer) for name in self.names]


def dense_network(training: Records, random_state: int) -> Network:
    """Return the chapter's dense network: missing cells drawn given the class once, then BIC."""
    labels = training.codes[:, training.label].astype(np.int64)
    features = training.codes[:, : training.label]
    counts = TupleCounts.of(features, labels, Terms.singles(training.cardinalities[:-1]), 2)
    drawn = draw_codes_given_class(features, labels, counts, 0.0, np.random.default_rng(random_state))
    whole = np.column_stack([drawn, training.codes[:, training.label]])
    return bic_network(whole, training.cardinalities)


def completions(training: Records, dense: Network, imputation: str, random_state: int) -> Codes:
    """Draw the missing training cells several times, from the dense network or by chained equations."""
    generator = np.random.default_rng(random_state)
    if imputation == "network":
        return dense.draw_missing(training.codes, N_IMPUTATIONS, generator)
    labels = training.codes[:, training.label].astype(np.int64)
    features = training.codes[:, : training.label]
    tables = complete(features, labels, training.cardinalities[:-1], N_IMPUTATIONS, generator)
    last = np.broadcast_to(training.codes[:, training.label, None], (*tables.shape[:2], 1))
    return np.concatenate([tables, last], axis=2)


@dataclass(frozen=True)
class Fit:
    """A model at one strength, by its predictions.

    Parameters
    ----------
    risk : callable
        The probability of the disorder, of records.
    """

    strength: float
    risk: Callable[[Records], Floats]
    network: Network | None = None


def _risk_of(network: Network) -> Callable[[Records], Floats]:
    def risk(records: Records) -> Floats:
        scores = network.joint_log_scores(records.codes, records.label)
        return np.exp(log_posterior(scores))[:, 1]

    return risk


def sparse_path(training: Records, networks: SparseNetworks) -> Iterator[Fit]:
    """Fit sparse networks from the strongest penalty to the weakest; the second layer is searched."""
    top = networks.largest_strength(training.layers)
    order: Sequence[int] = training.order
    for strength in np.geomspace(top, WEAKEST * top, N_STRENGTHS):
        found = networks.search(strength, order, layers=training.layers, searched=frozenset({1}))
        order = found.order
        network = networks.network(order, strength)
        networks.forget(strength)
        yield Fit(float(strength), _risk_of(network), network)


def refitted(fit: Fit, networks: SparseNetworks) -> Fit:
    """Return the same graph with coefficients that are hardly penalised any more (the relaxed lasso)."""
    assert fit.network is not None  # noqa: S101 - a fit of sparse_path
    relaxed = networks.refitted(fit.network, PLAN.relaxed * fit.strength)
    return Fit(fit.strength, _risk_of(relaxed), relaxed)


def lasso_path(
    training: Records, networks: SparseNetworks, dense: Network, random_state: int
) -> Iterator[Fit]:
    """Fit the group lasso of the label on all features, on the same completions.

    Rows to be predicted are completed from the dense network, label unknown, and probabilities averaged.
    """
    label = training.label
    others = frozenset(range(label))
    top = networks.largest_strength([*[0] * label, 1])

    drawn: dict[int, Codes] = {}

    def completed(records: Records) -> Codes:
        if id(records) not in drawn:  # all strengths see the same completions
            generator = np.random.default_rng(random_state)
            drawn[id(records)] = dense.draw_missing(records.unlabelled, N_IMPUTATIONS, generator)
        return drawn[id(records)]

    for strength in np.geomspace(top, WEAKEST * top, N_STRENGTHS):
        found = networks.solution(label, others, float(strength))
        yield Fit(float(strength), _Logistic(found.intercepts, found.blocks, completed).risk)


@dataclass(frozen=True)
class _Logistic:
    intercepts: Floats
    blocks: dict[int, Floats]
    completed: Callable[[Records], Codes]

    def risk(self, records: Records) -> Floats:
        total = np.zeros(len(records.codes))
        tables = self.completed(records)
        for codes in tables:
            scores = np.broadcast_to(self.intercepts.mean(axis=0), (len(codes), 2)).copy()
            for parent, block in self.blocks.items():
                scores += block.mean(axis=0)[codes[:, parent]]
            total += softmax(scores, axis=1)[:, 1]
        return total / len(tables)


def naive_bayes(training: Records) -> Fit:
    """Return naive Bayes; a missing cell is no evidence."""
    encoder, table = TableEncoder.learn(training.frame, missing="neutral")
    statistics = TableStatistics.of(table, training.codes[:, training.label].astype(np.int64), 2)
    scores = generative_scores(statistics)

    def risk(records: Records) -> Floats:
        return np.exp(log_posterior(scores.joint_log_scores(encoder.encode(records.frame))))[:, 1]

    return Fit(0.0, risk)


def one_standard_error(losses: Sequence[Floats]) -> int:
    """Return the first, and strongest, fit whose mean loss is within one standard error of the least.

    Examples
    --------
    >>> one_standard_error([np.array([0.9, 1.1]), np.array([0.3, 0.5]), np.array([0.2, 0.5])])
    1
    """
    means = np.array([row_losses.mean() for row_losses in losses])
    best = int(np.argmin(means))
    error = losses[best].std(ddof=1) / np.sqrt(len(losses[best]))
    return int(np.flatnonzero(means <= means[best] + error)[0])


def caught(risk: Floats, sick: Floats, diverted: float) -> float:
    """Return the share of cases among those of highest risk that are diverted; ties are split evenly.

    Examples
    --------
    >>> caught(np.array([0.9, 0.5, 0.5, 0.1]), np.array([1.0, 1.0, 0.0, 0.0]), 0.5)
    0.75
    """
    rank = np.unique(-risk, return_inverse=True)[1]
    rows = np.bincount(rank)
    cases = np.bincount(rank, sick)
    taken = np.clip((diverted * len(risk) - (np.cumsum(rows) - rows)) / rows, 0, 1)
    return float(taken @ cases / sick.sum())


def judge(
    n_train: int, n_test: int, n_validation: int, repetition: int, seed: int, imputation: str = "network"
) -> Iterable[dict[str, object]]:
    """Run the protocol once.

    Parameters
    ----------
    n_train, n_test, n_validation : int
        Rows that train, that choose the strength, and that report.
    repetition, seed : int
        Decide everything.
    imputation : {"network", "chained"}
        How training cells are drawn: from the dense network, as in the chapter, or by chained equations.
    """
    first, second = np.random.SeedSequence((seed, repetition)).generate_state(2)
    records = Records.draw(n_train + n_test + n_validation, int(first))
    training = records.rows(slice(n_train))
    test = records.rows(slice(n_train, n_train + n_test))
    validation = records.rows(slice(n_train + n_test, None))
    dense = dense_network(training, int(second))
    tables = completions(training, dense, imputation, int(second))
    networks = SparseNetworks(tables, training.cardinalities)
    chosen = {"BN": Fit(0.0, _risk_of(dense), dense), "NB": naive_bayes(training)}
    paths = {
        "l1-BN": list(sparse_path(training, networks)),
        "Lasso": list(lasso_path(training, networks, dense, int(second))),
    }
    for method, fits in paths.items():
        losses = [(fit.risk(test) - test.sick) ** 2 for fit in fits]
        chosen[method] = fits[one_standard_error(losses)]
        chosen[f"{method}, least"] = fits[int(np.argmin([row_losses.mean() for row_losses in losses]))]
        for fit, row_losses in zip(fits, losses, strict=True):
            yield {
                "record": "path",
                "method": method,
                "strength": fit.strength,
                "MSE": float(row_losses.mean()),
                "se": float(row_losses.std(ddof=1) / np.sqrt(len(row_losses))),
                "n_edges": -1 if fit.network is None else len(fit.network.edges),
            }
    chosen["l1-BN, refitted"] = refitted(chosen["l1-BN"], networks)
    for name in ("l1-BN", "l1-BN, least", "BN"):
        yield _graph(name, chosen[name], records)
    yield from _losses(chosen, validation)


def _graph(name: str, fit: Fit, records: Records) -> dict[str, object]:
    network = fit.network
    assert network is not None  # noqa: S101 - both methods are networks
    boundary = {records.names[j] for j in network.markov_boundary(records.label)}
    return {
        "record": "graph",
        "method": name,
        "strength": fit.strength,
        "n_edges": len(network.edges),
        "n_parameters": int(network.tables.size),
        "boundary": ", ".join(sorted(boundary)),
        "boundary_lacks": len(MARKOV_BOUNDARY - boundary),
        "boundary_extra": len(boundary - MARKOV_BOUNDARY),
        "edges": ", ".join(f"{records.names[a]} > {records.names[b]}" for a, b in network.edges),
    }


def _losses(chosen: dict[str, Fit], validation: Records) -> Iterator[dict[str, object]]:
    risks = {method: fit.risk(validation) for method, fit in chosen.items()}
    risks["truth"] = true_posterior(validation.frame)
    sick = validation.sick
    reference = (risks["l1-BN"] - sick) ** 2
    for method, risk in risks.items():
        squared = (risk - sick) ** 2
        difference = squared - reference
        yield {
            "record": "loss",
            "method": method,
            "L01": float(((risk > 0.5) != (sick > 0.5)).mean()),
            "MSE": float(squared.mean()),
            "difference": float(difference.mean()),
            "difference_se": float(difference.std(ddof=1) / np.sqrt(len(sick))),
        }
        for diverted in DIVERTED:
            yield {
                "record": "diversion",
                "method": method,
                "diverted": diverted,
                "caught": caught(risk, sick, diverted),
            }


def _run_losses(options: RunOptions) -> pd.DataFrame:
    """Run the protocol, and give the mean losses of the methods over the repetitions."""
    n_train, n_test, n_validation = QUICK_ROWS if options.quick else CHAPTERS_ROWS
    units = [
        {
            "n_train": n_train,
            "n_test": n_test,
            "n_validation": n_validation,
            "repetition": repetition,
            "seed": options.random_state,
        }
        for repetition in range(options.repetitions)
    ]
    records = run_repetitions(
        units, judge, path=options.path, n_jobs=options.n_jobs, progress=options.progress
    )
    losses = records[records["record"] == "loss"].melt(["method"], ["L01", "MSE"], "metric", "loss")
    found = losses.groupby(["metric", "method"], sort=False)["loss"].agg(ours="mean", se="sem").reset_index()
    found.attrs["notes"] = [
        f"{n_train:,} training, {n_test:,} test and {n_validation:,} validation rows of generated records",
        *(_graph_note(row) for row in records[records["record"] == "graph"].to_dict("records")),
    ]
    found.attrs["data_sets"] = records.drop(columns=[*units[0]][:3]).to_dict("records")
    return found


def _graph_note(row: dict[Any, Any]) -> str:
    return (
        f"{row['method']}, repetition {row['repetition']}: {row['n_edges']:.0f} edges, Markov boundary "
        f"{row['boundary']} (lacks {row['boundary_lacks']:.0f} of the planted one, has "
        f"{row['boundary_extra']:.0f} more)"
    )


def _run_frequencies(options: RunOptions) -> pd.DataFrame:
    """Draw as many records as the chapter has, and count."""
    records = veterans(sum(CHAPTERS_ROWS), options.random_state)
    table = records.X.astype(object).assign(**{LABEL: records.y}).fillna("NA")
    cells = [
        {"variable": name, "category": value, "frequency": count, "proportion_pct": 100 * count / len(table)}
        for name in table
        for value, count in table[name].value_counts().items()
    ]
    return pd.DataFrame(cells).melt(["variable", "category"], var_name="cell", value_name="ours")


_GENERATED = (
    "The veterans' records are confidential. These come from a generator with their frequencies, missing "
    "rates and Markov boundary (seminaive_experiments.papers.veterans): compare the order of the methods, "
    "not digits."
)
_SOLVED = (
    "The group lasso is solved itself, where the chapter has a quadratic approximation that lacks a factor "
    "of one half: its strengths are not ours."
)
_AVERAGED = (
    "Rows to be predicted by the lasso are completed five times from the dense network, label unknown, and "
    "probabilities averaged; the chapter does not say what it does."
)

REPRODUCTIONS = (
    Reproduction(
        name="dissertation-table3.1",
        title="Veterans' data, category frequencies",
        needs="simulation",
        minutes=0.1,
        repetitions=1,
        quick_repetitions=1,
        run=_run_frequencies,
        values=("frequency", "proportion_pct"),
        # Four standard errors of a share of one half.
        tolerances={"frequency": Tolerance(2200), "proportion_pct": Tolerance(0.2)},
        remarks=(_GENERATED, "It agrees by construction: the generator is given these frequencies."),
    ),
    Reproduction(
        name="dissertation-table3.2",
        title="Predicting post-traumatic stress disorder",
        needs="simulation",
        minutes=1,
        repetitions=1,
        quick_repetitions=1,
        run=_run_losses,
        remarks=(_GENERATED, _SOLVED, _AVERAGED),
    ),
)
