"""Whom a claim is about: "I" is the author, and nobody is guessed."""

from __future__ import annotations

import re
from collections.abc import Sequence

from muniment.extract.quotes import Range
from muniment.model.evidence import Evidence, Trust

NOT_PERSONS = frozenset({"assistant", "tool", "system"})
OWN_WORDS = frozenset({Trust.AUTHORITATIVE, Trust.FIRST_PARTY})
_I = frozenset({"i", "me", "myself", "the author", "author", "the user", "user", "the speaker", "speaker"})
_PRONOUNS = frozenset({
    "he", "she", "it", "they", "we", "you", "him", "her", "them", "us", "his", "hers", "its", "their", "our",
    "your", "this", "that", "these", "those", "who", "one", "someone", "somebody", "everyone", "everybody",
    "himself", "herself", "itself", "themselves", "ourselves", "yourself",
})  # fmt: skip
_LETTER = r"[^\W\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\ud7ff]"
"""A letter or digit of a script that puts spaces between words."""
_MINE = re.compile(r"(?:my|the author's|the user's|the speaker's)\s+(\S.*)", re.IGNORECASE | re.DOTALL)


def speaks_for_itself(evidence: Evidence) -> bool:
    """Whether "I" in this evidence is a person whose own words these are, and who is known."""
    return bool(evidence.author) and evidence.role not in NOT_PERSONS and evidence.trust in OWN_WORDS


def resolve_subject(named: str, evidence: Evidence, within: Sequence[Range]) -> str | None:
    """The subject that is meant by what an extractor named; None when the text does not say who it is.

    "I" and "the user" are the evidence's author, "my sister" is "Jane's sister"; any other subject must stand in the
    text by name, and is written as it stands there.
    """
    name = " ".join(named.split())
    folded = name.casefold()
    author = evidence.author if speaks_for_itself(evidence) else None
    if folded in _I:
        return author
    if evidence.author and folded == " ".join(evidence.author.split()).casefold():
        return evidence.author
    if mine := _MINE.fullmatch(name):
        kin = _as_written(mine[1], evidence.content, within)
        return None if author is None or kin is None else f"{author}'s {kin}"
    if folded in _PRONOUNS:
        return None
    return _as_written(name, evidence.content, within)


def _as_written(name: str, content: str, within: Sequence[Range]) -> str | None:
    """The name as the text spells it, where it stands as words of its own; None when it does not stand there."""
    words = r"\s+".join(re.escape(word) for word in name.split())
    if not words:
        return None
    pattern = re.compile(f"(?<!{_LETTER}){words}(?!{_LETTER})", re.IGNORECASE)
    for start, end in within:
        if match := pattern.search(content, start, end):
            return " ".join(match[0].split())
    return None
