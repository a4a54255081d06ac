"""What counts as rounding, everywhere above the statistics."""

# A sum over rows that differs by less than this share of its terms differs by rounding: some hundred times
# the rounding of one float, and far below what one row among a million adds.
ROUNDING = 1e-13
