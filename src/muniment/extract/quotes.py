"""Where the words that somebody quotes really stand: exactly, or with other white space."""

from __future__ import annotations

import re
from collections.abc import Sequence

Range = tuple[int, int]
"""Characters [start, end) of a content."""


def find_quote(content: str, quote: str, within: Sequence[Range]) -> Range | None:
    """The first place, inside one of the ranges, where these words stand; None when they do not.

    Only white space may differ (a line break for a space): the range returned is the exact one in the content.
    """
    words = quote.split()
    if not words:
        return None
    exact = quote.strip()
    for start, end in within:
        found = content.find(exact, start, end)
        if found >= 0:
            return found, found + len(exact)
    pattern = re.compile(r"\s+".join(re.escape(word) for word in words))
    for start, end in within:
        if match := pattern.search(content, start, end):
            return match.span()
    return None
