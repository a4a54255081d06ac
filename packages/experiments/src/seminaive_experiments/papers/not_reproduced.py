"""Published tables that nothing runs, each with its reason.

A table leaves this list when a module names it in its ``REPRODUCTIONS``.
"""

__all__ = ["REASONS"]

_PHONEME = "Phoneme, which has half of its cells, is not among the tables of SEMINAIVE_DATA"

REASONS: dict[str, tuple[str, str]] = {
    "alr-footnote6": ("0-1 loss where LR and ALR differ", _PHONEME),
}
