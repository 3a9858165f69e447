"""How words are meant. (Replaced by the full grammar in the next change.)"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Stance:
    """How the cited words are meant."""

    question: bool = False
    hypothetical: bool = False
    hedged: bool = False
    reported: bool = False
    denied: bool = False
    first_person: bool = False

    @property
    def waits_for(self) -> str | None:
        """Why the words are no statement; None when they are one."""
        return "the words are a question" if self.question else None


def sentence_at(content: str, start: int, end: int) -> tuple[int, int]:
    """The sentence that holds [start, end)."""
    return 0, len(content)


def stance_of(content: str, start: int, end: int) -> Stance:
    """How [start, end) of `content` is meant."""
    return Stance(question=content[end : end + 40].lstrip().startswith("?"))
