"""How a text table is written is read off its first lines."""

import bz2
import gzip
import lzma

import pandas as pd
import pytest

from seminaive.delimited import TextFormat, look_at
from seminaive.encode import read_table
from seminaive.errors import InputError


def written(tmp_path, text, name="t.csv", encoding="utf-8"):
    path = tmp_path / name
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("a,b\n1,2\n", ","),
        ("a;b\n1;2\n", ";"),
        ("a\tb\n1\t2\n", "\t"),
        ("a|b\n1|2\n", "|"),
        ('a,b\n"x;y;z",2\n', ","),
        ('a;b\n"x,y";1,5\n', ";"),
        ('name;text\nx;"one, two, three"\ny;"four"\n', ";"),
        ("alone\n1\n", ","),
        ('a,b\n"two\nlines",2\n', ","),
    ],
)
def test_the_delimiter_is_the_one_that_splits_all_lines_alike(tmp_path, text, delimiter):
    assert look_at(written(tmp_path, text), TextFormat()).format.delimiter == delimiter


@pytest.mark.parametrize(
    ("text", "decimal"),
    [
        ("a;b\n1,5;x\n2;y\n", ","),
        ("a;b\n1.5;x\n2;y\n", "."),
        ("a;b\n1;x\n", "."),
        ("a,b\n1,5\n", "."),
        ("a;v\n1,5;1.2\n2,5;x\n", ","),
    ],
)
def test_the_decimal_mark_is_the_one_of_most_numbers(tmp_path, text, decimal):
    assert look_at(written(tmp_path, text), TextFormat()).format.decimal == decimal


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_byte_order_mark_is_no_part_of_a_name(tmp_path, encoding):
    frame = read_table(written(tmp_path, "größe;b\n1,5;ä\n", encoding=encoding))
    assert frame.columns.tolist() == ["größe", "b"]
    assert frame["größe"].tolist() == [1.5]
    assert frame["b"].tolist() == ["ä"]


def test_a_line_that_names_the_delimiter_is_no_header(tmp_path):
    frame = read_table(written(tmp_path, "sep=^\na^b\n1^2\n"))
    assert frame.columns.tolist() == ["a", "b"]


def test_only_empty_cells_are_missing_unless_others_are_named(tmp_path):
    path = written(tmp_path, "a,b\nNA,1\n,2\n?,3\n")
    assert read_table(path)["a"].isna().tolist() == [False, True, False]
    named = read_table(path, text_format=TextFormat(missing=("NA", "?")))
    assert named["a"].isna().all()


def test_what_is_told_is_believed(tmp_path):
    path = written(tmp_path, "a;b\n1,5;2\n")
    head = look_at(path, TextFormat(delimiter=",", encoding="latin-1"))
    assert head.names == ("a;b",)
    assert head.format.encoding == "latin-1"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"delimiter": ";;"}, "one character"),
        ({"decimal": "x"}, "decimal mark"),
        ({"delimiter": ",", "decimal": ","}, "both the delimiter and the decimal mark"),
        ({"encoding": "klingon"}, "no encoding"),
    ],
)
def test_a_format_that_cannot_be_is_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        TextFormat(**arguments)


@pytest.mark.parametrize("name", ["t.csv.gz", "t.csv.bz2", "t.csv.xz", "t.csv.zip"])
def test_a_damaged_archive_is_a_sentence(tmp_path, name):
    with pytest.raises(InputError, match="cannot be read as a table"):
        look_at(written(tmp_path, "no archive", name), TextFormat())


@pytest.mark.parametrize("where", ["header", "row", "last row"])
def test_a_cell_of_any_length_is_read(tmp_path, where):
    cell = "x" * 200_000
    lines = {
        "header": f"a,{cell}\n1,2\n",
        "row": f"a,b\n1,{cell}\n2,y\n",
        "last row": f"a,b\n1,y\n2,{cell}\n",
    }
    frame = read_table(written(tmp_path, lines[where]))
    assert frame["a"].tolist() == [1, 2][: len(frame)]
    assert max(len(str(cell)) for cell in [*frame.columns, *frame.to_numpy().ravel()]) == 200_000


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, bytes])
@pytest.mark.parametrize("name", ["t.csv", "t.tsv"])
def test_how_a_file_is_packed_is_read_off_its_bytes(tmp_path, pack, name):
    between = "\t" if "tsv" in name else ","
    path = tmp_path / name
    path.write_bytes(pack(f"a{between}b\n01{between}2\n".encode()))
    assert read_table(path).to_numpy().tolist() == [["01", 2]]


def test_parquet_that_is_called_csv_is_refused_by_its_name(tmp_path):
    path = tmp_path / "t.csv"
    pd.DataFrame({"a": [1]}).to_parquet(path)
    with pytest.raises(InputError, match="holds Parquet, not text"):
        read_table(path)


def test_dates_are_read_as_they_are_said_to_be_written(tmp_path):
    path = written(tmp_path, "when,what\n1.2.2024,a\n03/04/2024 10:30,1.2.x\n,\n2024-05-06,c\n")
    for dates, expected in (
        ("day first", ["2024-02-01", "2024-04-03 10:30", None, "2024-05-06"]),
        ("month first", ["2024-01-02", "2024-03-04 10:30", None, "2024-05-06"]),
        (None, ["1.2.2024", "03/04/2024 10:30", None, "2024-05-06"]),
    ):
        frame = read_table(path, text_format=TextFormat(dates=dates))
        assert frame["when"].astype(object).where(frame["when"].notna(), None).tolist() == expected
        assert frame["what"].tolist()[:2] == ["a", "1.2.x"]
    with pytest.raises(InputError, match="got 'year first'"):
        TextFormat(dates="year first")
