"""What counts as rounding, everywhere above the statistics."""

# A sum over rows that differs by less than this share of its terms differs by rounding: some hundred times
# the rounding of one float. Ten times more or less changes no answer: a row in a million is 1e-6.
ROUNDING = 1e-13
