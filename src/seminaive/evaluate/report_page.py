"""The page of a report: its skeleton and style, tables that scroll in their own frame, and folded parts."""

from html import escape

__all__ = ["folded", "legend", "reading_section", "whole_page", "wide_table"]


def wide_table(head: str, rows: str) -> str:
    """Make a table that scrolls sideways in its own frame, so that the page never does."""
    return (
        f"<div class=wide tabindex=0><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def legend(models: list[str]) -> str:
    """Give each model's colour and number."""
    keys = "".join(
        f'<li><span class=key style="background:var(--m{i})"></span>{i + 1} {escape(str(model))}</li>'
        for i, model in enumerate(models)
    )
    return f"<ul class=legend>{keys}</ul>"


def folded(summary: str, content: str) -> str:
    """Make a part that opens when its line is clicked; nothing where there is no content."""
    return f"<details><summary>{summary}</summary>{content}</details>" if content else ""


def reading_section() -> str:
    """Explain what the page shows."""
    return (
        "<section class=reading><h2>How to read this</h2><p>Log loss is the mean of minus the "
        "logarithm of the probability that a model gave to the true class; the Brier score is half "
        "the mean squared distance of the probabilities from the truth; AUC is the chance that a row "
        "of a class gets a higher probability of it than a row of another; F1 and AUC are means over "
        "the classes. ± is the standard error of a mean over folds, widened for the training rows "
        "that folds share (Nadeau and Bengio). Boxes show quartiles, whiskers reach to the farthest "
        "value within 1.5 interquartile ranges. Ranks compare models over tables without comparing "
        "losses of different tables. A difference on one table says little about others.</p></section>"
    )


# Models have them by place, so that the best dozen, and so all that share a picture of curves, differ.
_LIGHT = (
    *("#0b66b5", "#c8500a", "#0c8a63", "#a8408f", "#8a6d00", "#5b5bd6"),
    *("#c2274b", "#4f7d12", "#007f91", "#7a4a21", "#3f4a5a", "#8b1fa8"),
)
_DARK = (
    *("#5aa9f0", "#f2935a", "#48c79c", "#e08acb", "#d9b841", "#a3a3ff"),
    *("#ff7d97", "#a4d05c", "#4fd0e0", "#c99a72", "#aeb9c9", "#d68cf0"),
)

_STYLE = """
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0 auto;padding:1rem;max-width:72rem;font:16px/1.5 system-ui,sans-serif;color:var(--ink);
background:var(--paper)}
h1{font-size:1.6rem;line-height:1.2;margin:.5rem 0}h2{font-size:1.25rem;margin:2.2rem 0 .6rem}
h3{font-size:1.05rem;margin:1.6rem 0 .4rem}p{max-width:44rem;margin:.4rem 0 .8rem}
.legend{list-style:none;display:flex;flex-wrap:wrap;gap:.3rem 1.1rem;padding:0;margin:.6rem 0}
.key{display:inline-block;width:.8em;height:.8em;border-radius:50%;margin-right:.4em}
.wide{overflow-x:auto;margin:.5rem 0;border:1px solid var(--rule);border-radius:6px;width:fit-content;
max-width:100%}
table{border-collapse:separate;border-spacing:0;font-size:.9rem;font-variant-numeric:tabular-nums}
th,td{padding:.35rem .7rem;text-align:right;white-space:nowrap;border-bottom:1px solid var(--rule)}
tr:last-child>*{border-bottom:0}thead th{border-bottom:1px solid var(--rule)!important;font-weight:600}
th:first-child{text-align:left;position:sticky;left:0;background:var(--paper);max-width:11rem;
overflow:hidden;text-overflow:ellipsis}
th[scope=row]{font-weight:500}td.message{white-space:normal;text-align:left;min-width:16rem}
th.pair{white-space:normal;min-width:10rem}.best{font-weight:700}.error,.short{color:var(--soft);font-weight:400}.short{font-size:.8em}
.total>*{border-top:2px solid var(--rule)}
.verdict{font-size:1.15rem;max-width:52rem;overflow-wrap:anywhere}.note{color:var(--soft)}
.main th{white-space:normal}.main th:first-child{max-width:none;
overflow-wrap:anywhere;min-width:7rem}
@media(max-width:40rem){.main .extra{display:none}.main th,.main td{padding:.35rem .3rem}
.main .error{display:block}}
.diagonal{stroke:var(--soft);stroke-dasharray:3 4}
.win{background:var(--good)}.lose{background:var(--bad)}.self{background:var(--rule)}
.failed h2{color:var(--alarm)}
figure{margin:.4rem 0}figcaption{font-size:.9rem;max-width:44rem;color:var(--soft)}
svg{display:block;width:100%;max-width:30rem;height:auto}
svg text{font:12px system-ui,sans-serif;fill:var(--ink)}
svg .tick{fill:var(--soft);font-size:11px}svg .title{fill:var(--soft)}
.grid{stroke:var(--rule)}.stem{stroke:var(--soft);stroke-width:1}.group{stroke:var(--ink);stroke-width:4;
stroke-linecap:round}
.reach{fill:var(--rule);opacity:.6}.whisker{stroke:var(--c);stroke-width:1.5}
.box{fill:var(--c);fill-opacity:.3;stroke:var(--c)}.median{stroke:var(--ink);stroke-width:2}
svg .inside{fill:var(--paper);font-weight:700;font-size:11px}
.beyond{fill:none;stroke:var(--c)}.point{fill:var(--c);stroke:var(--paper);stroke-width:1.5}
.faint{fill:var(--c);opacity:.35}.level{stroke:var(--soft);stroke-dasharray:3 4;opacity:.7}
.curve{fill:none;stroke:var(--c);stroke-width:2}
.panels{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,21rem),1fr));gap:1rem 1.6rem}
.panels figure{content-visibility:auto;contain-intrinsic-size:auto 12rem}
.panels figcaption{font-weight:600;color:var(--ink)}
details{margin:1rem 0;border-top:1px solid var(--rule);padding-top:.6rem}
summary{cursor:pointer;font-weight:600}
.reading{margin-top:3rem;border-top:1px solid var(--rule);color:var(--soft)}
"""


def _colours(colours: tuple[str, ...], n_models: int) -> str:
    return "".join(f"--m{i}:{colours[i % len(colours)]};" for i in range(n_models))


def whole_page(title: str, n_models: int, body: str) -> str:
    """Compose one file that needs no network and follows the reader's light or dark setting."""
    light = (
        "--paper:#fff;--ink:#1b1f24;--soft:#57606a;--rule:#dfe3e8;--good:#d3f0dc;--bad:#fbdcd7;--alarm:#b42318;"
        + _colours(_LIGHT, n_models)
    )
    dark = (
        "--paper:#14171c;--ink:#e6e8eb;--soft:#a0a8b2;--rule:#343a43;--good:#1d4a2d;--bad:#5a2620;--alarm:#ff8a7a;"
        + _colours(_DARK, n_models)
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        '<meta name="color-scheme" content="light dark"><link rel="icon" href="data:,">'
        f"<title>{escape(title)}</title><style>:root{{color-scheme:light dark;{light}}}"
        f"@media(prefers-color-scheme:dark){{:root{{{dark}}}}}{_STYLE}</style></head><body>{body}</body></html>\n"
    )
