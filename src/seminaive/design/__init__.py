"""A training table as the columns of a linear model, which are never built."""
