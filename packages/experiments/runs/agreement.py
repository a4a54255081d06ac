"""Count what agrees in the kept results, and write the counts into the package and the pages of docs.

python runs/agreement.py
"""

import re
from pathlib import Path

import pandas as pd

from seminaive_experiments.pairwise_tests import paired_t_test, wilcoxon_test
from seminaive_experiments.papers.agreement import agreement_of, agreement_share
from seminaive_experiments.papers.miss_reasons import REASONS_FOR_MISSES
from seminaive_experiments.papers.reproduction import published_table

PACKAGE = Path(__file__).parents[1]
ROOT = PACKAGE.parents[1]
PAGE = PACKAGE / "docs" / "reproduction.md"
NBRLR_PAGE = ROOT / "docs" / "nbrlr.md"
KEPT = PACKAGE / "src" / "seminaive_experiments" / "papers" / "kept" / "agreement.csv"
# Tables that are kept, by text; descriptions of data and what agrees by construction are not counted.
TEXTS = {
    "Chapter 1": [f"hybrid/dissertation-table{k}" for k in ("1.2", "1.3", "1.4", "A1", "A2", "A3")],
    "Hybrid paper": ["hybrid/hybrid-table2"],
    "fsNB": ["fsnb-table1", "fsnb-table2", "fsnb-table4"],
    "NBRLR, simulations": [f"nbrlr-table{k}" for k in (1, 2, 3, 4)],
    "NBRLR, real tables": ["nbrlr-table6", "hybrid/nbrlr-table7", "nbrlr-table8"],
    "Chapter 2": [f"dissertation-table2.{k}" for k in (1, 2, 3, 4, 5, 7, 8)],
    "Chapter 3": ["dissertation-table3.2"],
    "ALR^n": [f"alr/alr-table{k}" for k in (2, 3, 4)],
}


def kept(name):
    """Read the cells of a kept result; those that are run in parts have a folder of their own."""
    folder = PACKAGE / "results" if "/" in name else PACKAGE / "results" / "reproduction"
    return pd.read_csv(folder / f"{name}.csv", comment="#", keep_default_na=False, na_values=["", "nan"])


def counts():
    """Return one row for each kept table."""
    rows = [
        {"text": text, **agreement_of(name.rpartition("/")[2], kept(name))}
        for text, names in TEXTS.items()
        for name in names
    ]
    return pd.DataFrame(rows)


def agreement_lines(found):
    """Return the table of agreement as lines of Markdown."""
    lines = [
        "| text | table | cells | agree | explained | median absolute difference |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for row in found.to_dict("records"):
        counted = f"{row['cells']} | {row['agree']} | {row['explained']}"
        lines.append(f"| {row['text']} | `{row['table']}` | {counted} | {row['median_difference']} |")
    totals = found[["cells", "agree", "explained"]].sum().to_dict()
    share = f"{agreement_share(totals):.1%} of those not explained"
    return [*lines, f"| all | | {totals['cells']} | {totals['agree']} | {totals['explained']} | {share} |"]


def reason_lines():
    """Return the table of reasons as lines of Markdown."""
    lines = ["| where | kind of reason | what we know |", "| --- | --- | --- |"]
    return lines + [f"| {reason.where} | {reason.kind} | {reason.words} |" for reason in REASONS_FOR_MISSES]


def nbrlr_wins():
    """Return wins, draws and losses of NBRLR over all 30 real tables with p-values, ours and printed."""
    rows = []
    for name in ("nbrlr-table6", "nbrlr-table8"):
        cells, losses = kept(name), kept(f"{name}-data-sets")
        for row in published_table(name).query("subset == 'all'").to_dict("records"):
            metric, rival = row["metric"], row["method_b"]
            chosen = cells[
                (cells["subset"] == "all") & (cells["metric"] == metric) & (cells["method_b"] == rival)
            ]
            counts = chosen.set_index("cell")["ours"].round().astype(int)
            wide = losses[losses["metric"] == metric].pivot_table(
                index="dataset", columns="method", values="loss"
            )
            pair = wide[["NBRLR", rival]].dropna().to_numpy().T
            rows.append(
                {
                    "metric": metric,
                    "rival": rival,
                    "ours": "/".join(str(counts[cell]) for cell in ("win", "draw", "loss")),
                    "printed": "/".join(row[cell] for cell in ("win", "draw", "loss")),
                    "wilcoxon": wilcoxon_test(*pair).p_value,
                    "t": paired_t_test(*pair).p_value,
                    "printed_p": row["p_value"],
                }
            )
    return pd.DataFrame(rows)


RIVALS = {
    "NB": "naive Bayes",
    "LR": "logistic regression",
    "Lasso": "lasso",
    "Ridge": "ridge",
    "ElasticNet": "elastic net",
}


def p_value(value):
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def test_lines(wins):
    """Return wins and p-values beside the printed ones as lines of Markdown."""
    lines = [
        "| NBRLR against | 0-1 loss | Wilcoxon's p | t test's p | RSPE | Wilcoxon's p | t test's p |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for rival, words in RIVALS.items():
        parts = [words]
        for metric in ("L01", "RSPE"):
            row = wins[(wins["rival"] == rival) & (wins["metric"] == metric)].iloc[0]
            parts.append(f"{row['ours']} ({row['printed']})")
            parts.append(f"{p_value(row['wilcoxon'])} ({row['printed_p']})")
            parts.append(p_value(row["t"]))
        lines.append(f"| {' | '.join(parts)} |")
    return lines


def win_lines(wins):
    """Return our wins, draws and losses alone as lines of Markdown."""
    lines = [f"| NBRLR against | {' | '.join(RIVALS.values())} |", "| --- |" + " --- |" * len(RIVALS)]
    for metric, words in (("L01", "0-1 loss"), ("RSPE", "root squared error of the probability")):
        of_metric = wins[wins["metric"] == metric].set_index("rival")["ours"]
        lines.append(f"| {words} | {' | '.join(of_metric[rival] for rival in RIVALS)} |")
    return lines


def written(page, mark, lines):
    """Return the page with lines between the marks of a name."""
    start, end = f"<!-- {mark} -->\n", f"<!-- end of {mark} -->\n"
    text = start + "\n" + "\n".join(lines) + "\n\n" + end
    return re.sub(re.escape(start) + ".*" + re.escape(end), lambda _: text, page, flags=re.DOTALL)


def main():
    found = counts()
    KEPT.write_text(found.to_csv(index=False), encoding="utf-8")
    page = PAGE.read_text(encoding="utf-8")
    page = written(page, "agreement", agreement_lines(found))
    wins = nbrlr_wins()
    page = written(page, "wins", test_lines(wins))
    models_page = NBRLR_PAGE.read_text(encoding="utf-8")
    NBRLR_PAGE.write_text(written(models_page, "wins", win_lines(wins)), encoding="utf-8")
    PAGE.write_text(written(page, "reasons", reason_lines()), encoding="utf-8")


if __name__ == "__main__":
    main()
