"""Whether cited words are meant as a statement about the subject, by somebody who can make it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from muniment.extract.stance import sentence_at, stance_of


def waits_for(words: str, start: int, stop: int, *, hedged: str, others: Collection[str] | None) -> str | None:
    """None when characters [start, stop) of `words` are a plain statement; otherwise why they are not.

    `hedged` "accept" lets "I think …" pass. `others` is given when the author is known and is not the subject (which is
    known by these names): what people say of themselves is then no statement about the subject, unless it is named.
    """
    stance = stance_of(words, start, stop)
    reason = (replace(stance, hedged=False) if hedged == "accept" else stance).waits_for
    if reason is None and others is not None and stance.first_person:
        first, last = sentence_at(words, start, stop)
        sentence = words[first:last].casefold()
        if not any(name.casefold() in sentence for name in others):
            return "the author speaks of themselves, not of the subject"
    return reason
