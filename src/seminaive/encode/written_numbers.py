"""Numbers as people write them in text: `$42,117.20`, `17.1%`, `(1,250)`, `1.234,50 €`, `12 kg`.

A column of text is a column of numbers where nearly all of its cells follow one format: one decimal mark, one
mark between thousands, one unit. Whole numbers without any mark are codes of shops or places as often as they
are quantities: who has them as text has said so, and their column stays text.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from seminaive.encode.saved_by_fields import SavedByFields

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# Share of the cells that have to be numbers of one format. Cells that are not become missing, so that the
# share bounds what is lost: one cell in a hundred, about what slips of typing and stray remarks take in
# tables typed by hand. A word that is more frequent ("none", "unlimited", "< 5") has a meaning, and its
# column stays text.
AGREEMENT = 0.99
# Fractions are numbers from this many different values on; fewer, as of versions, are taken for names.
FEW_VALUES = 20
# A column of two values says the same as numbers and as categories, and keeps their names: "2WD", "4WD".
FEWEST_VALUES = 3
# Different values that are looked at first: a column of words is passed over quickly.
FIRST_VALUES = 1000
# Longest cell that is looked at; numbers are shorter.
LONGEST = 40

# Decimal mark and mark between thousands, the more usual first.
STYLES = ((".", ","), (",", "."), (".", " "), (",", " "), (".", "'"))

# A minus sign and an en dash are written for a hyphen, which comes last, as in the brackets of a pattern.
_MINUS = "−–-"  # noqa: RUF001
_GROUP_CLASS = {",": ",", ".": r"\.", " ": r"[ \u00a0\u2009\u202f]", "'": r"['\u2019]"}
_SYMBOLS = "$€£¥₹₽₩₪₺₫฿₴₦₱"
_CURRENCY = (
    rf"(?:[A-Z]{{0,3}}[{_SYMBOLS}]|AUD|BRL|CAD|CHF|CNY|CZK|DKK|EUR|GBP|HKD|HUF|INR|JPY|KRW|MXN|NOK|NZD|PLN"
    r"|RUB|SEK|SGD|TRY|USD|ZAR|Fr\.?|kr\.?|Rs\.?)"
)
_WORD = r"[^\W\d_]+[23²³]?"
_PRIMES = "′″"  # noqa: RUF001 - minutes and seconds, feet and inches
_UNIT = rf"(?:{_CURRENCY}|[%‰°{_PRIMES}\"]|°\s?[CFK]|{_WORD}(?:[ /·.]{_WORD}){{0,2}}\.?)"
# Any number, with what stands before it and after it.
_ANY = re.compile(
    rf"\s*(?:({_CURRENCY})\s*)?(?:\(\s*)?(?:[+{_MINUS}]\s*)?(?:({_CURRENCY})\s*)?"
    rf"([0-9](?:[0-9.,'\u2019 \u00a0\u2009\u202f]*[0-9])?\.?|[.,][0-9]+)(?:[eE][-+]?[0-9]+)?"
    rf"\s*(?:({_UNIT})\s*)?(?:-\s*)?(?:\)\s*)?"
)
_CODE = re.compile(r"0\d")
_SPECIAL = re.compile(r"([\\^$.|?*+()\[\]{}/])")


@dataclass(frozen=True)
class NumberFormat(SavedByFields):
    """How the numbers of a column of text are written.

    Parameters
    ----------
    decimal : {".", ","}
        The decimal mark.
    grouping : {",", ".", " ", "'"}
        What may stand between thousands.
    unit : str
        A currency, a percent sign or a unit of measurement; empty where there is none. Cells may leave it
        out, except a percent sign: 0.17 and 17 % are both usual. The number is what is written: 17 % is 17.

    Examples
    --------
    >>> dollars = NumberFormat(".", ",", "$")
    >>> [dollars.read(text) for text in ("$42,117.20", "($1,250)", "-$3", "12")]
    [42117.2, -1250.0, -3.0, 12.0]
    >>> dollars.read("€ 12")
    nan
    """

    decimal: str
    grouping: str
    unit: str

    @cached_property
    def pattern(self) -> str:
        """Return the regular expression of a cell, in what Python and JavaScript have in common.

        Its groups: an opening bracket, a sign, whole digits with marks between thousands, digits after the
        decimal mark, an exponent, a sign after the number, a closing bracket.
        """
        group, point = _GROUP_CLASS[self.grouping], _GROUP_CLASS[self.decimal]
        three, two = f"(?:{group}[0-9]{{3}})", f"(?:{group}[0-9]{{2}})"
        whole = rf"[0-9]{{1,3}}{three}+|[0-9]{{1,2}}{two}+{three}|[0-9]+|(?={point}[0-9])"
        # Spaces belong to what they follow, so that a cell of many spaces is not tried in many ways.
        unit = rf"(?:{_unit_pattern(self.unit)}\s*)" if self.unit else ""
        before = f"{unit}?" if unit and self.is_currency else ""
        after = unit + "?" * (self.unit not in _SHARES) if unit else ""
        return (
            rf"^\s*{before}(?:(\()\s*)?(?:([+{_MINUS}])\s*)?{before}({whole})(?:{point}([0-9]*))?"
            rf"([eE][-+]?[0-9]+)?\s*{after}(?:([{_MINUS}])\s*)?(?:(\))\s*)?$"
        )

    @property
    def reader(self) -> dict[str, Any]:
        """Return what a program in another language needs to read cells, beside the fields of the format."""
        how = {"pattern": self.pattern, "ignore_case": self.ignores_case, "longest": LONGEST}
        return {"decimal": self.decimal, "grouping": self.grouping, "unit": self.unit, **how}

    @property
    def is_known(self) -> bool:
        """Tell whether `find_format` may find this format; another may come from a damaged file."""
        unit = self.unit
        known = (self.decimal, self.grouping) in STYLES and isinstance(unit, str) and len(unit) <= LONGEST
        return known and (not unit or re.fullmatch(_UNIT, unit) is not None)

    @property
    def ignores_case(self) -> bool:
        """Tell whether capitals matter not; they do in units of one letter, as m and M."""
        return len(self.unit) > 1

    @property
    def is_currency(self) -> bool:
        """Tell whether the unit may stand before the number, too."""
        return re.fullmatch(_CURRENCY, self.unit) is not None

    @property
    def described(self) -> str:
        """Return how the numbers of a column are written."""
        return f"numbers written like {self.example}"

    @property
    def example(self) -> str:
        """Return a number in this format."""
        return self._with_unit(f"1{self.grouping}234{self.decimal}5")

    def write(self, number: float) -> str:
        """Return the text that `read` reads as this number."""
        digits = self._with_unit(repr(abs(float(number))).replace(".", self.decimal))
        return f"-{digits}" if number < 0 else digits

    def _with_unit(self, digits: str) -> str:
        if not self.unit:
            return digits
        return f"{self.unit}{digits}" if self.is_currency else f"{digits} {self.unit}"

    def read(self, text: str) -> float:
        """Return the number that a cell says, NaN where it says none in this format."""
        found = None if len(text) > LONGEST else _compiled(self.pattern, self.ignores_case)(text)
        if found is None:
            return math.nan
        opened, sign, whole, decimals, exponent, trailing, closed = found.groups()
        if (opened is None) != (closed is None):
            return math.nan
        digits = re.sub(r"\D", "", whole)
        if _CODE.match(digits):
            return math.nan
        size = float(f"{digits or 0}.{decimals or 0}{exponent or ''}")
        return -size if opened or trailing or (sign and sign != "+") else size

    def read_cell(self, cell: Any) -> float:
        """Return the number of a cell that is text or a number already."""
        if isinstance(cell, str):
            return self.read(cell)
        return math.nan if isinstance(cell, bool) else float(cell)


# Units without which a number means something else.
_SHARES = ("%", "‰")


@cache
def _compiled(pattern: str, ignore_case: bool) -> Any:
    return re.compile(pattern, re.IGNORECASE if ignore_case else 0).match


def _unit_pattern(unit: str) -> str:
    """Return the regular expression of a unit; words may have a plural, and a point after them."""
    escaped = _SPECIAL.sub(r"\\\1", unit)
    return rf"{escaped}s?\.?" if unit.isalpha() and len(unit) > 1 else escaped


def _singular(text: str) -> str:
    """Return a unit without its point and its plural."""
    unit = text.strip().removesuffix(".")
    return unit.removesuffix("s") if unit.isalpha() and len(unit) > 2 else unit


def find_format(counts: Mapping[Any, int]) -> NumberFormat | None:
    """Return the format in which a column of text writes numbers, None where the column is text.

    Parameters
    ----------
    counts : mapping
        How many cells have each value: text, or numbers beside it. Missing cells are left out.

    Examples
    --------
    >>> find_format({"$1,200": 3, "$85.50": 2, "$7": 1})
    NumberFormat(decimal='.', grouping=',', unit='$')
    >>> find_format({"01069": 3, "80331": 2, "10115": 1}) is None  # codes
    True
    """
    values = [value for value in counts if not (isinstance(value, str) and not value.strip())]
    texts = [value for value in values if isinstance(value, str)]
    if not texts or len(values) < FEWEST_VALUES or any(isinstance(value, bool) for value in values):
        return None
    if not may_write_numbers(texts[:: -(-len(texts) // FIRST_VALUES)]):
        return None
    parts = {text: found for text in texts if (found := _parts(text)) is not None}
    bodies = [body for body, _ in parts.values()]
    if any(_CODE.match(re.sub(r"[^\d.,]", "", body)) for body in bodies):
        return None
    units = Counter[str]()
    for text, (_, unit) in parts.items():
        units[unit] += counts[text]
    del units[""]
    chosen = NumberFormat(*_style(bodies), max(units, key=lambda unit: units[unit], default=""))
    read = sum(counts[value] for value in values if not math.isnan(chosen.read_cell(value)))
    if read < AGREEMENT * sum(counts[value] for value in values):
        return None
    if any(map(_is_marked, parts, bodies)) or 2 * units[chosen.unit] >= sum(counts.values()):
        return chosen
    # A sign, a decimal mark or a rare unit in some, and numbers beside text, say that numbers are meant.
    meant = len(texts) < len(values) or not are_whole(list(parts))
    return chosen if len(values) >= FEW_VALUES and meant else None


def may_write_numbers(values: Sequence[Any]) -> bool:
    """Tell whether half of some different texts look like numbers, or there is none.

    Rare values may be slips beside frequent numbers, so that fewer of the values than of the cells are
    numbers.
    """
    texts = [value for value in values if isinstance(value, str)]
    return 2 * sum(_parts(text) is not None for text in texts) >= len(texts)


def units_of(values: Sequence[Any]) -> list[str]:
    """Return the different units that stand beside numbers in some cells, the most frequent first.

    Examples
    --------
    >>> units_of(["12 kg", "500 g", "1 kg", "much"])
    ['kg', 'g']
    """
    found = (_parts(value) for value in values if isinstance(value, str))
    units = Counter(parts[1] for parts in found if parts is not None and parts[1])
    return [unit for unit, _ in units.most_common()]


def _parts(text: str) -> tuple[str, str] | None:
    """Return the digits of a number, with the marks between them, and its unit; None for other text."""
    found = None if len(text) > LONGEST else _ANY.fullmatch(text)
    if found is None:
        return None
    before, inside, body, after = found.groups()
    return body, before or inside or _singular(after or "")


def _style(bodies: Sequence[str]) -> tuple[str, str]:
    """Return the decimal mark and the mark between thousands under which most numbers are well written."""
    read = {}
    for decimal, grouping in STYLES:
        matches = _compiled(NumberFormat(decimal, grouping, "").pattern, False)
        read[decimal, grouping] = sum(matches(body) is not None for body in bodies)
    if read[",", "."] == read[".", ","] and _points_group(bodies):
        return ",", "."
    return max(STYLES, key=lambda style: read[style])  # the first of the best


def _points_group(bodies: Sequence[str]) -> bool:
    """Tell whether points stand between thousands although each number has one at most.

    Numbers below a thousand then have none, and each point is followed by three digits. Fractions with three
    digits have a point in every cell.
    """
    pointed = [body for body in bodies if "." in body]
    grouped = all(re.fullmatch(r"[1-9]\d{0,2}\.\d{3}", body) for body in pointed)
    plain = [body for body in bodies if "." not in body]
    return bool(pointed and grouped and plain) and all(re.fullmatch(r"\d{1,3}", body) for body in plain)


def are_whole(values: Sequence[Any]) -> bool:
    """Tell whether texts are all digits alone, perhaps with a zero in front."""
    return all(isinstance(value, str) and value.strip().isdecimal() for value in values)


def _is_marked(text: str, body: str) -> bool:
    """Tell whether a number has brackets, or marks between its digits beside a point."""
    return "(" in text or re.search(r"[,'\u2019 \u00a0\u2009\u202f]|\..*\.", body) is not None
