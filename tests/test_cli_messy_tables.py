"""The command line reads messy tables as they come, and says what it thinks of them before it fits."""

import numpy as np
import pandas as pd
import pytest

from seminaive import load_model
from seminaive.delimited import TextFormat, has_padded_digits
from seminaive.encode import read_table

N = 240


@pytest.fixture
def shop(tmp_path):
    rng = np.random.default_rng(4)
    spent = rng.lognormal(7, 1, N)
    table = pd.DataFrame(
        {
            "id": [f"C-{k:05}" for k in range(N)],
            "spent": [f"${value:,.2f}" for value in spent],
            "rate": [f"{value:.1f}%" for value in rng.uniform(0, 40, N)],
            "zip": rng.choice(["01069", "10115", "80331"], N),
            "member": rng.choice(["Yes", "yes", "no"], N),
            "late": np.where(np.log(spent) + rng.logistic(size=N) > 7, "late", "paid"),
            "age": rng.integers(18, 90, N),
        }
    )
    path = tmp_path / "shop.csv"
    table.to_csv(path, index=False)
    return path


def fit(seminaive, path, *options, target="late"):
    out = path.with_suffix(".model")
    chosen = ("--target", target, "--model", "naive-bayes", "--no-estimate", "--out", out)
    return out, *seminaive("fit", path, *chosen, *options)


def test_a_messy_table_is_read_as_it_was_meant_and_predicted_alike(seminaive, shop, tmp_path):
    out, code, _, errors = fit(seminaive, shop)
    assert code == 0
    kinds = load_model(out).columns_report_.set_index("column")["kind"].to_dict()
    assert kinds == {
        "id": "identifier",
        "spent": "numeric",
        "rate": "numeric",
        "zip": "categorical",
        "member": "categorical",
        "age": "numeric",
    }
    assert "note: column 'id' has 240 values in 240 rows" in errors
    assert "note: column 'member' tells 'Yes' and 'yes' apart" in errors
    assert "--drop COLUMN" in errors
    predictions = tmp_path / "predictions.csv"
    assert seminaive("predict", out, shop, "--out", predictions)[0] == 0
    expected = load_model(out).predict_proba(read_table(shop).drop(columns="late"))
    np.testing.assert_allclose(pd.read_csv(predictions)["probability_late"], expected[:, 0])


def test_notes_come_before_the_fit(seminaive, shop, monkeypatch, capsys):
    seen = []

    def count(*_):
        seen.append(capsys.readouterr().err)
        raise InterruptedError("the fit has begun")

    monkeypatch.setattr("seminaive.models.naive_bayes.NaiveBayes.count_rows", count)
    fit(seminaive, shop)
    assert "note: column 'id'" in seen[0]


def test_spellings_are_merged_on_request(seminaive, shop):
    out, code, _, errors = fit(seminaive, shop, "--merge-spellings")
    assert code == 0
    assert "apart" not in errors
    column = next(each for each in load_model(out).schema_.columns if each.name == "member")
    assert {value.lower() for value in column.categories} == {"no", "yes"}
    assert column.merged


def test_a_quantity_is_no_target_unless_the_user_insists(seminaive, shop):
    _, code, _, errors = fit(seminaive, shop, target="age")
    assert code == 1
    assert "different numbers, from 18 to 89" in errors
    assert "regression" in errors
    assert errors.rstrip().endswith("--classes fits it all the same")
    out, code, _, _ = fit(seminaive, shop, "--classes", target="age")
    assert code == 0
    assert len(load_model(out).classes_) > 50


def test_an_export_that_reads_numbers_says_so(seminaive, shop, tmp_path):
    out, *_ = fit(seminaive, shop)
    code, _, errors = seminaive("export", out, "--to", "sql", "--out", tmp_path / "model.sql")
    assert code == 0
    assert errors.startswith("note: 'spent', 'rate' came as text, such as '$1,234.5', and SQL reads numbers")


@pytest.mark.parametrize(
    ("text", "padded"),
    [
        ("a,b\n1,2\n", False),
        ("a,b\n01,2\n", True),
        ('a,b\n1,"007"\n', True),
        ("a,b\n1,09:30\n", False),
        ("a,b\n0.5,0\n", False),
        ("a,b\n1,2024-01-05\n", False),
        ("a,b\n1,007", True),
        ("a,b\n" + "12345678,1\n" * 50_000 + "3,04\n", True),
    ],
)
def test_digits_that_begin_with_a_zero_are_found_in_a_file(tmp_path, text, padded):
    path = tmp_path / "t.csv"
    path.write_text(text)
    assert has_padded_digits(path, TextFormat(",", "utf-8")) is padded


def test_codes_keep_their_zeros(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("zip,n\n01069,1\n80331,2\n,3\n")
    frame = read_table(path)
    assert frame["zip"].tolist()[:2] == ["01069", "80331"]
    assert frame["zip"].isna().tolist() == [False, False, True]
    assert frame["n"].tolist() == [1, 2, 3]


def test_dates_that_prove_nothing_are_read_as_the_user_says(seminaive, tmp_path):
    months = [f"0{1 + k % 9}/0{1 + k // 9 % 9}/2024" for k in range(162)]
    table = pd.DataFrame({"when": months, "late": ["yes" if k % 9 > 4 else "no" for k in range(162)]})
    table.to_csv(tmp_path / "t.csv", index=False)
    assert "dates, in days since 1970" in fit(seminaive, tmp_path / "t.csv", "--dates", "month-first")[2]
    _, _, read, errors = fit(seminaive, tmp_path / "t.csv")
    assert "as categories" in read
    assert "no row proving what is the day" in errors
    assert "--dates day-first" in errors
