"""`python -m muniment`."""

from muniment.cli import main

main()
