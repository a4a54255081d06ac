"""One module per paper: its generators, its protocol and its published tables."""
