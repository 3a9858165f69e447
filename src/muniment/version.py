"""The version of this installation, as activities record it."""

from importlib.metadata import version

VERSION = version("muniment")
SOFTWARE = f"muniment/{VERSION}"
