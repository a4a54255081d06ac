"""Printed p-values beside ours."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_rel

from seminaive_experiments.papers import nbrlr
from seminaive_experiments.papers.p_values import agreeing_sides, paired_t_p_values


def _records():
    """Losses of two methods in thirty repetitions of one cell; NBRLR is better in L01 and not in RSPE."""
    rng = np.random.default_rng(0)
    cell = {"n_train": 100, "p": 10, "r": 0.1}
    rows = []
    for repetition in range(30):
        for method, gain in (("NBRLR", 1.0), ("NB", 0.0)):
            losses = {"L01": rng.normal() - gain, "RSPE": rng.normal(), "MSE": rng.normal()}
            rows.append({**cell, "method": method, "repetition": repetition, **losses})
    return pd.DataFrame(rows)


def test_p_values_are_those_of_scipys_paired_t_test():
    records = _records()
    ours = paired_t_p_values(records, ["n_train", "p", "r"], "L01", "NB")
    wide = records.pivot_table(index="repetition", columns="method", values="L01")
    assert ours.loc[100, 10, 0.1] == pytest.approx(ttest_rel(wide["NB"], wide["NBRLR"]).pvalue)


def test_sides_of_one_in_twenty_are_counted_where_a_value_is_printed():
    assert agreeing_sides([(0.01, "<0.001"), (0.2, "0.041"), (0.3, "0.5"), (0.5, "")]) == (2, 3)


def test_a_simulations_note_counts_the_cells_that_were_run():
    note = nbrlr.p_value_note("nbrlr-table2", _records())
    assert note.endswith("of 3")  # three losses of naive Bayes in one cell
