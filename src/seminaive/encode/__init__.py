"""From a table of any kind to codes, numbers and a schema."""
