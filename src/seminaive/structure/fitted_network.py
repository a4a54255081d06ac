"""What a fitted network answers: predictions, its graph, conditional queries, and draws."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import softmax
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from seminaive.encode import (
    CategoricalColumn,
    NumericColumn,
    TableEncoder,
    encode_target,
    frame_like,
    open_table,
    training_columns,
)
from seminaive.errors import InputError
from seminaive.models.base import TableClassifier
from seminaive.models.parameters import check_whole

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from seminaive.arrays import Floats, Indices
    from seminaive.encode import EncodedTable
    from seminaive.encode.column_types import Column
    from seminaive.structure import Network, NetworkPath

# What the node of the class is called.
CLASS = "class"


class FittedNetwork(TableClassifier):
    """A classifier that is a Bayesian network over coded columns and the class.

    A subclass sets, besides the schema and the classes, ``nodes_``, ``node_columns_``, ``network_``,
    ``search_``, ``bin_means_``, ``fit_share_`` and ``class_shares_``.
    """

    nodes_: tuple[str, ...]
    node_columns_: tuple[int, ...]
    network_: Network
    search_: NetworkPath
    bin_means_: dict[str, Floats]
    fit_share_: float
    class_shares_: Floats

    # Nodes

    def _node_codes(self, table: EncodedTable) -> NDArray[Any]:
        """Return the codes of the nodes, those of the class missing, in the nodes' order."""
        codes = table.codes[:, list(self.node_columns_)]
        wide = np.promote_types(codes.dtype, np.min_scalar_type(len(self.classes_)))
        return np.column_stack([codes, np.full(len(codes), len(self.classes_))]).astype(wide)

    @property
    def _cardinalities(self) -> tuple[int, ...]:
        sizes = self.schema_.cardinalities
        return (*(sizes[j] for j in self.node_columns_), len(self.classes_))

    # Predicting

    def _joint_log_scores(self, table: EncodedTable) -> Floats:
        scores = self.network_.joint_log_scores(self._node_codes(table), len(self.nodes_) - 1)
        return self._toward_class_shares(scores)

    def _toward_class_shares(self, scores: Floats) -> Floats:
        """Return the share of the network in scores of the classes, the rest being the class shares."""
        share = self.fit_share_
        if share == 1.0:
            return scores
        return np.asarray(share * scores + (1.0 - share) * np.log(self.class_shares_))

    # Reading

    @property
    def parents_(self) -> dict[str, list[str]]:
        """The names of each node's parents."""
        check_is_fitted(self)
        return {
            name: [self.nodes_[j] for j in parents]
            for name, parents in zip(self.nodes_, self.network_.parents, strict=True)
        }

    @property
    def edges_(self) -> list[tuple[str, str]]:
        """Pairs of parent and child, in the ordering of the children."""
        return [(parent, child) for child in self.order_ for parent in self.parents_[child]]

    @property
    def markov_boundary_(self) -> list[str]:
        """The features that the class depends on once they are known."""
        check_is_fitted(self)
        return [self.nodes_[j] for j in self.network_.markov_boundary(len(self.nodes_) - 1)]

    @property
    def order_(self) -> list[str]:
        """The ordering of the nodes, parents before children."""
        check_is_fitted(self)
        return [self.nodes_[j] for j in self.network_.order]

    @property
    def path_(self) -> Any:
        """A frame of all strengths: strength, n_edges, objective, loss and standard_error."""
        check_is_fitted(self)
        path = self.search_
        columns = {
            "strength": path.strengths,
            "n_edges": path.n_edges,
            "objective": path.objectives,
            "loss": path.loss,
            "standard_error": path.standard_error,
        }
        return frame_like(None, columns)

    def to_networkx(self) -> Any:
        """Return the graph as a `networkx.DiGraph`; the nodes' attribute ``values`` has their values."""
        check_is_fitted(self)
        try:
            import networkx as nx
        except ImportError as error:
            raise ImportError(
                "to_networkx needs networkx, which is not installed: pip install 'seminaive[graph]'. The "
                "edges are in edges_"
            ) from error
        graph = nx.DiGraph()
        for name in self.order_:
            graph.add_node(name, values=self._values_of(name))
        graph.add_edges_from(self.edges_)
        return graph

    def probabilities(self, node: str, given: Mapping[str, Any] | None = None) -> dict[Any, float]:
        """Return the probability of each value of a node, given the values of some others.

        Parameters
        ----------
        node : str
            A column, or "class".
        given : dict, default=None
            Values by node: categories, numbers (which stand for their bin) or a class. A value that training
            never saw is no evidence.

        Returns
        -------
        dict
            Probabilities by value; numbers by the interval of their bin, as text. Those of the class are what
            the model predicts, with the share ``fit_share_`` of the network.
        """
        check_is_fitted(self)
        given = dict(given or {})
        for name in (node, *given):
            if name not in self.nodes_:
                raise InputError(f"{name!r} is not a node of the network: {list(self.nodes_)}")
        known = self._codes_of(given)
        shares = self.network_.probabilities(self.nodes_.index(node), known)
        if node == CLASS and CLASS not in given:
            shares = softmax(self._toward_class_shares(np.log(shares)))
        return dict(zip(self._values_of(node), shares.tolist(), strict=True))

    def _codes_of(self, given: Mapping[str, Any]) -> dict[int, int]:
        """Return the codes of values by node, without those that are no evidence."""
        columns = dict.fromkeys(self.schema_.names)
        names = self.schema_.coded_names
        for name, value in given.items():
            if name != CLASS:
                columns[names[self.node_columns_[self.nodes_.index(name)]]] = value
        table = TableEncoder(self.schema_).encode([list(columns.values())])
        codes = self._node_codes(table)[0]
        if CLASS in given:
            labels = self.classes_.tolist()
            if given[CLASS] not in labels:
                raise InputError(f"{given[CLASS]!r} is not a class: {labels}")
            codes[-1] = labels.index(given[CLASS])
        known = {self.nodes_.index(name) for name in given}
        return {j: int(k) for j, k in enumerate(codes) if j in known and k < self._cardinalities[j]}

    def _values_of(self, node: str) -> list[Any]:
        """Return the values of a node: categories, intervals as text, or classes."""
        if node == CLASS:
            return list(self.classes_.tolist())
        position = self.schema_.coded[self.node_columns_[self.nodes_.index(node)]]
        column = self.schema_.columns[position]
        if isinstance(column, CategoricalColumn):
            values = [*column.categories]
            return [*values, None] if self.schema_.n_values(column) > len(values) else values
        return list(self.schema_.labels(position))

    # Drawing

    def sample(self, n_rows: int = 1, random_state: Any = None) -> tuple[Any, NDArray[Any]]:
        """Return rows drawn from the network.

        Parameters
        ----------
        random_state : int, RandomState or None, default=None

        Returns
        -------
        X : frame
            The training columns; a number is the mean of its bin in training. Columns that are no nodes are
            missing.
        y : ndarray of shape (n_rows,)
        """
        check_is_fitted(self)
        check_whole("n_rows", n_rows, "a number of rows, 1 or more", low=1)
        codes = self.network_.sample(n_rows, self._generator(random_state)).astype(np.int64)
        columns = {name: np.full(n_rows, None, dtype=object) for name in self.schema_.names}
        for node, coded in enumerate(self.node_columns_):
            column = self.schema_.columns[self.schema_.coded[coded]]
            columns[column.name] = self._written_values(column, as_text=False)[codes[:, node]]
        return frame_like(None, columns), self.classes_[codes[:, -1]]

    def draw_missing_cells(
        self, X: Any, n_draws: int = 1, random_state: Any = None, y: Any = None
    ) -> list[Any]:
        """Return copies of a table in which the missing cells are drawn given the observed ones.

        Parameters
        ----------
        X : frame, array or list of rows
            The training columns: by name, or in the training order where there are no names.
        random_state : int, RandomState or None, default=None
        y : array-like of shape (n_rows,), default=None
            Classes, where they are known; else they are drawn, too, and dropped.

        Returns
        -------
        list of tables like X
            A missing number is written as the mean of the bin that was drawn.
        """
        from seminaive.structure.filling import filled, missing_rows

        check_whole("n_draws", n_draws, "a number of tables, 1 or more", low=1)
        X = training_columns(X, self.schema_.names)
        codes = self._node_codes(self.encode(X))
        if y is not None:
            codes[:, -1] = self._label_codes(y, len(codes))
        if self.missing == "value":
            codes = self._unknown_where_missing(codes)
        drawn = self.network_.draw_missing(codes, n_draws, self._generator(random_state))
        node_of = {self.schema_.coded[column]: node for node, column in enumerate(self.node_columns_)}
        opened = open_table(X)
        found = missing_rows(opened, self.schema_)
        lacking = {position: rows for position, rows in found.items() if position in node_of}
        return [
            filled(
                X,
                lacking,
                {
                    position: self._written_values(
                        self.schema_.columns[position], as_text=opened.kinds[position] == "categorical"
                    )[table[rows, node_of[position]].astype(np.int64)]
                    for position, rows in lacking.items()
                },
            )
            for table in drawn
        ]

    def _label_codes(self, y: Any, n_rows: int) -> Indices:
        target = encode_target(y, type(self).__name__)
        if len(target.labels) != n_rows:
            raise InputError(f"X has {n_rows} rows and y has {len(target.labels)} labels")
        place = {label: code for code, label in enumerate(self.classes_.tolist())}
        return np.array([place.get(label, len(place)) for label in target.classes.tolist()])[target.labels]

    def _unknown_where_missing(self, codes: NDArray[Any]) -> NDArray[Any]:
        """Return codes in which the value "missing" is a missing cell."""
        present = [
            self.schema_.columns[self.schema_.coded[column]].n_present for column in self.node_columns_
        ]
        features = np.where(codes[:, :-1] >= np.array(present), self._cardinalities[:-1], codes[:, :-1])
        return np.column_stack([features, codes[:, -1]])

    def _written_values(self, column: Column, *, as_text: bool) -> NDArray[Any]:
        """Return what is written for each code of a column: a category, or the mean number of a bin.

        ``as_text`` tells whether the table has text here; numbers are then written in the column's format.
        """
        if isinstance(column, NumericColumn):
            means = np.append(self.bin_means_[column.name], np.nan)
            if column.written is None or not as_text:
                return means
            return np.array([*(column.written.write(mean) for mean in means[:-1]), None], dtype=object)
        categories = column.categories if isinstance(column, CategoricalColumn) else ()
        values = np.full(len(categories) + 1, None, dtype=object)
        values[:-1] = categories
        return values

    @staticmethod
    def _generator(random_state: Any) -> np.random.Generator:
        return np.random.default_rng(check_random_state(random_state).randint(2**31))
