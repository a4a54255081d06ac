"""The nodes of a network: which columns they are, in which layers, and what their bins stand for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.encode import NumericColumn, recut
from seminaive.errors import ColumnsWarning, InputError, warn_caller
from seminaive.models.parameters import is_whole
from seminaive.structure.fitted_network import CLASS, FittedNetwork
from seminaive.structure.network_search import NetworkTable

if TYPE_CHECKING:
    from seminaive.arrays import Floats, Indices
    from seminaive.encode import EncodedTable
    from seminaive.models.training_set import TrainingSet

# What the node of a feature is called that has the name of the class.
FEATURE_CLASS = "feature class"


class NetworkNodes(FittedNetwork):
    """A network whose nodes are the columns of a table that have few enough values, and the class.

    A subclass takes the parameters ``layers`` and ``max_levels``, and cuts numbers into bins.
    """

    def _name_nodes(self, table: EncodedTable) -> None:
        """Set the nodes: columns by name, so that their order in the table plays no part, then the class."""
        cardinalities = table.cardinalities
        wide = [j for j, k in enumerate(cardinalities) if k > self.max_levels]
        names = self.schema_.coded_names
        if wide:
            warn_caller(
                f"columns with more than max_levels={self.max_levels} values are left out of the network: "
                f"{', '.join(f'{names[j]!r} ({cardinalities[j]} values)' for j in wide)}",
                ColumnsWarning,
            )
        kept = [j for j in range(len(cardinalities)) if j not in wide]
        self.node_columns_ = tuple(sorted(kept, key=lambda j: names[j]))
        self.nodes_ = (
            *(FEATURE_CLASS if names[j] == CLASS else names[j] for j in self.node_columns_),
            CLASS,
        )

    def _network_table(self, rows: TrainingSet) -> NetworkTable:
        """Return the codes of the nodes and of the class, with as many values as the rows' table has."""
        codes = self._node_codes(rows.table)
        codes[:, -1] = rows.labels
        layer = {name: place for place, names in enumerate(self._layer_names()) for name in names}
        sizes = rows.table.cardinalities
        return NetworkTable(
            codes,
            (*(sizes[j] for j in self.node_columns_), rows.n_classes),
            rows.row_weight,
            tuple(layer[name] for name in self.nodes_),
        )

    def _fold_table(self, rows: TrainingSet, train: Indices) -> NetworkTable:
        """Return all rows under cut points of a fold's training rows: the others must not move them."""
        rule = self.binning_rule()
        if rule is not None and rows.table.schema.numeric:
            recoded = recut(rows.table, rule, rows.labels, rows.row_weight, train)
            rows = replace(rows, table=recoded)
        return self._network_table(rows)

    def _layer_names(self) -> list[list[str]]:
        """Return the names of each layer, checked against the nodes."""
        if self.layers is None:
            return [list(self.nodes_)]
        return [self._known(names) for names in self._check_names("layers", self.layers)]

    def _known(self, names: list[str]) -> list[str]:
        return [name for name in names if name in self.nodes_]

    def _check_names(self, parameter: str, groups: Any) -> Any:
        """Return lists of names that hold every node once; columns that are no nodes are allowed."""
        flat = [name for names in groups for name in names]
        ours = {*self.schema_.names, *self.nodes_}
        strangers = [name for name in flat if name not in ours]
        absent = [name for name in self.nodes_ if name not in flat]
        twice = sorted({name for name in flat if flat.count(name) > 1})
        for what, found in (("unknown", strangers), ("absent", absent), ("named twice", twice)):
            if found:
                raise InputError(
                    f"{parameter} names every column and the label as 'class' once: {what} are {found}"
                )
        return groups

    def _means_of_bins(self, rows: TrainingSet) -> dict[str, Floats]:
        """Return the mean number of each bin: what a drawn bin is written as."""
        schema, means = rows.table.schema, {}
        for column, position in enumerate(schema.coded):
            number = schema.columns[position]
            if isinstance(number, NumericColumn):
                codes = rows.table.codes[:, column].astype(np.int64)
                numbers = rows.table.numbers[:, schema.numeric.index(position)]
                known = codes < number.n_present
                weight = rows.weights[known]
                sums = np.bincount(codes[known], weight * numbers[known], minlength=number.n_present)
                means[number.name] = sums / np.bincount(codes[known], weight, minlength=number.n_present)
        return means


def check_name_lists(layers: Any, order: Any, searched_layers: Any) -> None:
    """Refuse layers that are no lists of names, an order that is none, and layers to search among none."""

    def is_names(value: Any) -> bool:
        return isinstance(value, list | tuple) and all(isinstance(name, str) for name in value)

    if layers is not None and not (
        isinstance(layers, list | tuple) and layers and all(is_names(names) for names in layers)
    ):
        raise InputError(f"layers is a list of lists of column names, got {layers!r}")
    if order is not None and not is_names(order):
        raise InputError(f"order is a list of column names, got {order!r}")
    if searched_layers is None:
        return
    count = 0 if layers is None else len(layers)
    if not isinstance(searched_layers, list | tuple) or not all(
        is_whole(k) and 0 <= k < count for k in searched_layers
    ):
        raise InputError(
            f"searched_layers is a list of positions among the {count} layers, got {searched_layers!r}"
        )
