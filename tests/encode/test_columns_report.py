"""What the report of the columns says about numbers that came as text."""

import warnings

import numpy as np
import pandas as pd
import pytest

from seminaive import NaiveBayes
from seminaive.errors import ColumnsWarning

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


def test_two_decimal_marks_in_one_column_are_mentioned():
    texts = [f"{k}.5" if k % 2 else f"{k},5" for k in range(60)]
    with pytest.warns(ColumnsWarning, match="two decimal marks, such as '1.5' and '0,5'"):
        NaiveBayes().fit(pd.DataFrame({"price": texts * 2}), np.arange(120) % 2)


def test_whole_numbers_as_text_are_mentioned_with_the_remedy():
    X = pd.DataFrame({"shop": [str(k % 40) for k in range(200)]})
    y = np.arange(200) % 3 % 2
    with pytest.warns(ColumnsWarning, match="holds whole numbers as text, .* pandas.to_numeric"):
        model = NaiveBayes().fit(X, y)
    assert model.columns_report_["read_as"].str.endswith(" as categories").all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        NaiveBayes(categorical_features=["shop"]).fit(X, y)
