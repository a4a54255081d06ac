"""Numbers with a decimal comma that came as text are pointed at; words with commas are not."""

import warnings

import numpy as np
import pandas as pd
import pytest

from seminaive import NaiveBayes
from seminaive.errors import ColumnsWarning

Y = np.arange(60) % 2


def test_a_decimal_comma_is_named_with_the_remedy():
    X = pd.DataFrame({"price": [f"{value},{value % 10}" for value in range(60)]})
    with pytest.warns(ColumnsWarning, match=r"decimal comma as text, such as '0,0'.*decimal=','") as caught:
        NaiveBayes().fit(X, Y)
    assert len(caught) == 1
    (sentence,) = caught[0].message.sentences
    assert sentence.startswith("column 'price' holds numbers with a decimal comma")


def test_names_with_commas_are_names():
    X = pd.DataFrame(
        {"name": [f"Smith, {letter}." for letter in "abcdefghijklmnopqrstuvwxyz"] * 2 + ["x"] * 8}
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        NaiveBayes().fit(X, Y)
