"""What the report of the columns says about numbers that came as text."""

import warnings

import numpy as np
import pandas as pd

from seminaive import NaiveBayes

Y = np.arange(60) % 2


def test_the_report_shows_how_numbers_were_written():
    X = pd.DataFrame({"price": [f"{value},{value % 10} €" for value in range(60)]})
    (line,) = NaiveBayes().fit(X, Y).columns_report_.itertuples()
    assert line.kind == "numeric"
    assert line.read_as.endswith("as numbers written like €1.234,5")


def test_names_with_commas_are_names():
    X = pd.DataFrame(
        {"name": [f"Smith, {letter}." for letter in "abcdefghijklmnopqrstuvwxyz"] * 2 + ["x"] * 8}
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = NaiveBayes().fit(X, Y)
    assert model.columns_report_["kind"].tolist() == ["categorical"]
