"""Published tables that nothing runs, each with its reason.

A table leaves this list when a module names it in its ``REPRODUCTIONS``.
"""

__all__ = ["REASONS"]

_PHONEME = "Phoneme, which has half of its cells, is not among the tables of SEMINAIVE_DATA"
_FSNB_PAIRS = (
    "it needs the errors on the 13 data sets, of which six are StarPlus scans that are not here; the printed "
    "values do not follow from the paper's own mean errors either (fsNB against NB: raw p 0.010, printed "
    "1.6e-6 after adjustment), and four adjusted p-values exceed 1"
)
_FMRI = (
    "the StarPlus fMRI scans cannot be bundled; seminaive.papers.fsnb.starplus_cells runs the table on your "
    "own copy"
)

REASONS: dict[str, tuple[str, str]] = {
    "alr-footnote6": ("0-1 loss where LR and ALR differ", _PHONEME),
    "fsnb-table3": ("Six StarPlus fMRI subjects", _FMRI),
    "fsnb-table4": ("All pairs of six methods by Bergmann and Hommel", _FSNB_PAIRS),
}
