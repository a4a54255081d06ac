"""Files that earlier versions wrote are read, and give the probabilities that they gave then.

The folder golden has one folder per version that `load_model` reads, with the models that it still reads of
that version. Each was fitted to 60 rows of two numbers and two categories, some cells of them unknown, and
saved by that version; probabilities.json holds what it predicted for `ROWS`.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from seminaive import load_model, save_model
from seminaive.saving.model_files import FORMAT_SINCE

GOLDEN = Path(__file__).parent / "golden"
VERSIONS = sorted(folder.name for folder in GOLDEN.iterdir())
KEPT = {version: json.loads((GOLDEN / version / "probabilities.json").read_text()) for version in VERSIONS}
FILES = [GOLDEN / version / name for version, models in KEPT.items() for name in models]
ROWS = pd.DataFrame(
    {
        "age": [41.5, 55.0, np.nan, 63.2],
        "size": [0.0, 4.0, 2.0, np.nan],
        "city": ["a", "c", None, "elsewhere"],
        "sex": ["f", "m", "m", "f"],
    }
)
# Sums of libraries for linear algebra differ in their last digits between processors.
SAME = 1e-12
every_file = pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.name}")


@every_file
def test_a_file_of_an_earlier_version_predicts_as_it_did(file):
    found = load_model(file).predict_proba(ROWS)[:, 1]
    np.testing.assert_allclose(found, KEPT[file.parent.name][file.name], rtol=SAME, atol=0)


@every_file
def test_a_file_of_an_earlier_version_can_be_saved_again(file, tmp_path):
    save_model(load_model(file), tmp_path / "again")
    first, again = (load_model(path).predict_proba(ROWS) for path in (file, tmp_path / "again"))
    np.testing.assert_array_equal(first, again)


def test_every_file_of_a_folder_is_tested_and_every_readable_version_has_one():
    for version, models in KEPT.items():
        files = {path.name for path in (GOLDEN / version).iterdir()} - {"probabilities.json"}
        assert files == set(models)
    numbers = {tuple(map(int, version.split(".")[:2])) for version in VERSIONS}
    assert min(numbers) == FORMAT_SINCE
