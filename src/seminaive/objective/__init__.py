"""What fits minimise: pointwise losses and penalties, summed over the rows."""
