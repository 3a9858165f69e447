"""Candidates by declared patterns: deterministic, offline, and only from what a person plainly said.

A rule matches inside one sentence. What it matches in a question, a supposition or a denial is refused; a hedged or
quoted statement becomes a candidate, and the gate lets it wait. Words that muniment wrote itself are not read.
"""

from __future__ import annotations

import hashlib
import json
import time
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Final, Self

from muniment.errors import InvalidInput, InvalidTime
from muniment.extract.echo import without_echoes
from muniment.extract.port import Candidate, Extraction, Refused
from muniment.extract.rule import AUTHOR, Rule, fill
from muniment.extract.stance import Stance, sentences, stance_of
from muniment.extract.values import Unreadable, date_in, said_in_offset, typed
from muniment.model.evidence import Evidence
from muniment.time import require_aware

MAX_SENTENCE: Final = 2000
"""A longer sentence is cut at white space, and rules match inside the pieces."""

SECONDS: Final = 1.0
SECONDS_PER_CHARACTER: Final = 10e-6
"""What one rule may take for one evidence: a second, and ten for a million characters. No sane rule comes near it; one
that does gives nothing for this evidence and says so, instead of a part that would depend on the machine."""

_FIRST_PERSON: Final = frozenset({"i", "me", "my", "mine", "myself"})
_NOBODY: Final = frozenset(
    {
        "he", "she", "it", "they", "we", "you", "him", "her", "them", "us", "his", "its", "their", "our",
        "your", "this", "that", "these", "those", "there", "who", "whoever", "what", "which", "where", "when",
        "why", "how", "everyone", "everybody", "someone", "somebody", "anyone", "anybody", "nobody", "none",
        "no", "one", "people", "some", "many", "most", "all", "both", "each", "every", "either", "neither", "a",
        "an", "the", "if", "and", "but", "or", "so", "because", "since", "then", "also", "yes", "ok", "okay",
        "well", "hi", "hello", "hey", "now", "today", "yesterday", "tomorrow", "currently", "maybe", "perhaps",
        "please", "thanks", "as", "in", "on", "at", "for", "from", "to"
    }
)  # fmt: skip


class RulesExtractor:
    """Implements the `Extractor` port with declared rules. Immutable, thread-safe, holds nothing of any tenant."""

    def __init__(self, rules: Sequence[Rule], digest: str, label: str) -> None:
        self._rules = tuple(rules)
        self._name = f"rules:{label}@{digest}"

    @property
    def name(self) -> str:
        """The label of the rules, and a hash of them: other rules, another name."""
        return self._name

    def __repr__(self) -> str:
        return f"RulesExtractor({self._name}, {len(self._rules)} rules)"

    @classmethod
    def of(cls, rules: Iterable[Mapping[str, Any]], *, label: str = "given") -> Self:
        """From mappings with the keys of a `[[rule]]` table. Raises `InvalidInput` naming the first bad one."""
        declared = list(rules)
        for number, rule in enumerate(declared, 1):
            if not isinstance(rule, Mapping):
                raise InvalidInput(f"rule {number}: a rule is a table of keys, not {type(rule).__name__}")
        made = [Rule.of(rule, number) for number, rule in enumerate(declared, 1)]
        written = json.dumps([dict(rule) for rule in declared], sort_keys=True, ensure_ascii=True, default=str)
        return cls(made, hashlib.sha256(written.encode()).hexdigest()[:12], label)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """From a TOML file of `[[rule]]` tables. Raises `InvalidInput` naming the file and the number of the table."""
        path = Path(path)
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidInput(f"{path.name} cannot be read as UTF-8 text: {error}") from None
        return cls._parsed(text, path.name)

    @classmethod
    def basic(cls) -> Self:
        """The rules that come with the package: English, general-purpose, conservative."""
        return cls._parsed(_basic(), "basic.toml")

    @classmethod
    def _parsed(cls, text: str, file: str) -> Self:
        try:
            tables = tomllib.loads(text)
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            raise InvalidInput(f"{file}: {_table_of(text, error)}: {error}") from None
        if set(tables) - {"rule"} or not isinstance(tables.get("rule", []), list):
            raise InvalidInput(f"{file}: a rules file holds [[rule]] tables and nothing else")
        try:
            return cls.of(tables.get("rule", []), label=file.removesuffix(".toml"))
        except InvalidInput as error:
            raise InvalidInput(f"{file}: {error}") from None

    def extract(self, batch: Sequence[Evidence]) -> list[Extraction]:
        """One extraction for each evidence, in order; candidates by position, then by the order of the rules."""
        return [self._read(evidence) for evidence in batch]

    def _read(self, evidence: Evidence) -> Extraction:
        heard = [
            (number, rule) for number, rule in enumerate(self._rules) if rule.hears(evidence.role, evidence.trust.value)
        ]
        if not heard:
            return Extraction()
        pieces = list(_pieces(evidence.content))
        reader = _Reader(evidence, said_in_offset(evidence.occurred_at, evidence.utc_offset))
        read: list[tuple[int, int, Candidate | Refused]] = []
        slow: list[Refused] = []
        for number, rule in heard:
            found = _matches(rule, evidence.content, pieces)
            if found is None:
                slow.append(Refused("rule_too_slow", f"{rule.name} takes too long on this text; make it more exact"))
                continue
            read.extend((match.start, number, reader.candidate(rule, match)) for match in found)
        read.sort(key=lambda one: one[:2])
        return Extraction(
            candidates=tuple(one for _, _, one in read if isinstance(one, Candidate)),
            refused=(*(one for _, _, one in read if isinstance(one, Refused)), *slow),
        )


@dataclass(frozen=True, slots=True)
class _Match:
    start: int
    end: int
    groups: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Reader:
    """Makes candidates of matches in one evidence."""

    evidence: Evidence
    said_at: datetime | None

    def candidate(self, rule: Rule, match: _Match) -> Candidate | Refused:
        stance = stance_of(self.evidence.content, match.start, match.end)
        author = self.evidence.author or ""
        groups = {name: _bare(words) for name, words in match.groups.items()} | {AUTHOR: author}
        subject = self._subject(rule, groups, stance)
        if isinstance(subject, Refused):
            return subject
        if stance.question or stance.hypothetical or stance.denied:
            return Refused("not_asserted", f"{rule.name}: {stance.waits_for}")
        try:
            value = (
                typed(self._text(rule, rule.value, groups), rule.value_type, self.said_at)
                if isinstance(rule.value, str)
                else rule.value
            )
            return Candidate(
                subject=subject,
                predicate=rule.predicate,
                value=value,
                start=match.start,
                end=match.end,
                scope=fill(rule.scope, groups),
                statement=fill(rule.statement, groups) if rule.statement else None,
                memory_type=rule.memory_type,
                confidence=rule.confidence,
                valid_from=self._moment(rule.valid_from, groups),
                valid_to=self._moment(rule.valid_to, groups),
            )
        except (Unreadable, InvalidTime) as error:
            return Refused("unreadable_value", f"{rule.name}: {error}")

    def _subject(self, rule: Rule, groups: Mapping[str, str], stance: Stance) -> str | Refused:
        words = fill(rule.subject, groups)
        of_author = "{" + AUTHOR + "}" in rule.subject
        if words.casefold() in _FIRST_PERSON:
            words, of_author = groups[AUTHOR], True
        if of_author and not groups[AUTHOR]:
            return Refused("no_subject", f"{rule.name}: the words are about their author, and the evidence has none")
        if of_author and stance.reported:
            return Refused("no_subject", f"{rule.name}: somebody else is quoted, and 'I' is not the author")
        first = words.split()[0].casefold() if words.split() else ""
        if not words or (not of_author and "{" in rule.subject and (first in _NOBODY or first in _FIRST_PERSON)):
            return Refused("no_subject", f"{rule.name}: {words[:80]!r} does not name a subject")
        return words

    def _text(self, rule: Rule, template: str, groups: Mapping[str, str]) -> str:
        text = fill(template, groups)
        if not text:
            raise Unreadable("the value is empty")
        return text

    def _moment(self, template: str | None, groups: Mapping[str, str]) -> datetime | None:
        """When the named period begins; None where the rule does not ask, or an optional group is empty."""
        text = fill(template, groups) if template else ""
        return require_aware(date_in(text, self.said_at).start) if text else None


def _bare(words: str) -> str:
    return words.strip().strip(',.;:!?"“”„«»').strip()


def _pieces(content: str) -> Iterator[tuple[int, int]]:
    """The sentences that people wrote, none longer than `MAX_SENTENCE`."""
    for start, end in without_echoes(content):
        for first, last in sentences(content, start, end):
            while last - first > MAX_SENTENCE:
                cut = content.rfind(" ", first + 1, first + MAX_SENTENCE)
                cut = cut if cut > first else first + MAX_SENTENCE
                yield first, cut
                first = cut
            yield first, last


def _matches(rule: Rule, content: str, pieces: Sequence[tuple[int, int]]) -> list[_Match] | None:
    """Every match, not overlapping; None when the rule ran out of time."""
    found: list[_Match] = []
    left = SECONDS + SECONDS_PER_CHARACTER * len(content)
    for first, last in pieces:
        began = time.perf_counter()
        try:
            for match in rule.pattern.finditer(content[first:last], timeout=left):
                start, end = match.span("span") if "span" in rule.pattern.groupindex else match.span()
                start, end = _trimmed(content, first + start, first + end)
                if start >= first and start < end:
                    groups = {name: words or "" for name, words in match.groupdict().items()}
                    found.append(_Match(start, end, groups))
        except TimeoutError:
            return None
        left -= time.perf_counter() - began
        if left <= 0:
            return None
    return found


def _trimmed(content: str, start: int, end: int) -> tuple[int, int]:
    while start < end and content[start].isspace():
        start += 1
    while start < end and content[end - 1].isspace():
        end -= 1
    return start, end


def _table_of(text: str, error: Exception) -> str:
    """Which `[[rule]]` a syntax error stands in, by the line that the parser names."""
    line = getattr(error, "lineno", None)
    if line is None:
        words = str(error).partition("(at line ")[2].partition(",")[0]
        line = int(words) if words.isdigit() else text.count("\n") + 1
    number = sum(row.strip().startswith("[[rule") for row in text.splitlines()[:line])
    return f"rule {number}" if number else "before the first rule"


@cache
def _basic() -> str:
    return (resources.files("muniment.extract") / "rules" / "basic.toml").read_text(encoding="utf-8")
