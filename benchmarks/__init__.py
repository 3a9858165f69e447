"""Figures, each beside a floor measured in the same run. Not tests: nothing here fails for being slow."""
