"""One declared rule, checked when it is declared: what to look for, and what a match says."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

from muniment.errors import InvalidInput
from muniment.extract.values import VALUE_TYPES
from muniment.model.evidence import Trust
from muniment.model.text import require_json, require_name

AUTHOR: Final = "author"
NOT_PERSONS: Final = frozenset({"assistant", "tool", "system"})
MAX_PATTERN: Final = 4000
MAX_VALUE: Final = 64 * 1024
_PLACEHOLDER = re.compile(r"\{(\w{1,64})\}")
_KEYS: Final = frozenset(
    {
        "name", "pattern", "predicate", "subject", "value", "value_type", "scope", "statement", "memory_type",
        "confidence", "valid_from", "valid_to", "roles", "trust", "flags", "whole_word"
    }
)  # fmt: skip
_TEXTS: Final = ("subject", "scope", "statement", "valid_from", "valid_to")


@dataclass(frozen=True, slots=True)
class Rule:
    """What a table `[[rule]]` says, with its pattern compiled (by the package `regex`, whose matches can time out).

    In `subject`, `scope`, `statement`, `valid_from`, `valid_to` and a textual `value`, `{group}` stands for the words
    of that group and `{author}` for the author of the evidence.
    """

    name: str
    pattern: Any
    predicate: str
    subject: str
    value: Any
    value_type: str
    scope: str
    statement: str | None
    memory_type: str
    confidence: float | None
    valid_from: str | None
    valid_to: str | None
    roles: frozenset[str] | None
    trust: frozenset[str]

    def hears(self, role: str, trust: str) -> bool:
        """Whether the rule listens to such a speaker: to persons the caller trusts, unless it names others."""
        heard = role not in NOT_PERSONS if self.roles is None else role in self.roles
        return heard and trust in self.trust

    @classmethod
    def of(cls, declared: Mapping[str, Any], number: int) -> Self:
        """The rule that the mapping declares. Raises `InvalidInput`, which names it."""
        name = f"rule {number}" + (f" ({declared['name']})" if isinstance(declared.get("name"), str) else "")
        try:
            return cls._checked(declared, name)
        except InvalidInput as error:
            raise InvalidInput(f"{name}: {error}") from None

    @classmethod
    def _checked(cls, declared: Mapping[str, Any], name: str) -> Self:
        if unknown := sorted(str(key) for key in declared if key not in _KEYS):
            raise InvalidInput(f"unknown key {unknown[0]!r}; the keys are {', '.join(sorted(_KEYS))}")
        pattern = _compiled(declared)
        groups = frozenset(pattern.groupindex) | {AUTHOR}
        value_type = declared.get("value_type", "text")
        if not isinstance(value_type, str) or value_type not in VALUE_TYPES:
            raise InvalidInput(f"value_type {value_type!r} is none of {', '.join(VALUE_TYPES)}")
        texts = {key: _template(declared.get(key), key, groups) for key in _TEXTS}
        value = declared.get("value", "{value}")
        if isinstance(value, str):
            _template(value, "value", groups)
        elif require_json(value, what="value", max_bytes=MAX_VALUE) is None:
            raise InvalidInput("value is missing; a claim says something")
        return cls(
            name=name,
            pattern=pattern,
            predicate=require_name(declared.get("predicate", ""), what="predicate"),
            subject=texts["subject"] or _template("{subject}", "subject", groups) or "",
            value=value,
            value_type=value_type,
            scope=texts["scope"] or "",
            statement=texts["statement"],
            memory_type=require_name(declared.get("memory_type", "entity"), what="memory_type"),
            confidence=_confidence(declared.get("confidence")),
            valid_from=texts["valid_from"],
            valid_to=texts["valid_to"],
            roles=_names(declared.get("roles"), "roles"),
            trust=_trust(declared.get("trust")),
        )


def fill(template: str, groups: Mapping[str, str]) -> str:
    """The template with its placeholders filled; `{x}` that the match left out is empty."""
    return _PLACEHOLDER.sub(lambda place: groups.get(place[1], ""), template).strip()


def _compiled(declared: Mapping[str, Any]) -> Any:
    import regex  # heavier than `re`, and needed by rules only

    pattern, flags = declared.get("pattern"), declared.get("flags", "")
    if not isinstance(pattern, str) or not pattern.strip():
        raise InvalidInput("a rule has a pattern: a regular expression with named groups")
    if len(pattern) > MAX_PATTERN:
        raise InvalidInput(f"the pattern has {len(pattern)} characters; at most {MAX_PATTERN} are allowed")
    if not isinstance(flags, str) or set(flags) - set("ix"):
        raise InvalidInput(f"flags are letters of 'i' (any case) and 'x' (verbose), not {flags!r}")
    whole = declared.get("whole_word", True)
    if not isinstance(whole, bool):
        raise InvalidInput("whole_word is true or false")
    options = sum((regex.IGNORECASE if "i" in flags else 0, regex.VERBOSE if "x" in flags else 0))
    end = "\n)" if "x" in flags else ")"
    try:
        regex.compile(pattern, options)  # alone first, so that a bracket cannot close the group put round it
        compiled = regex.compile(rf"(?<!\w)(?:{pattern}{end}(?!\w)" if whole else pattern, options)
        if compiled.fullmatch("", timeout=1.0) is not None:
            raise InvalidInput("the pattern matches the empty text; let it ask for a word")
    except (regex.error, OverflowError, RecursionError, MemoryError) as error:
        raise InvalidInput(f"the pattern is no regular expression: {error}") from None
    except TimeoutError:
        raise InvalidInput("the pattern takes for ever; avoid repeats inside of repeats") from None
    return compiled


def _template(text: Any, key: str, groups: frozenset[str]) -> str | None:
    if text is None:
        return None
    if not isinstance(text, str) or not text.strip():
        raise InvalidInput(f"{key} must be text, such as '{{{key}}}'")
    for name in _PLACEHOLDER.findall(text):
        if name not in groups:
            raise InvalidInput(f"{key} asks for {{{name}}}, and the pattern has no group (?P<{name}>…)")
    return text


def _confidence(value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InvalidInput(f"confidence lies between 0 and 1, not {value!r}")
    return float(value)


def _names(value: Any, key: str) -> frozenset[str] | None:
    if value is None:
        return None
    if not isinstance(value, list | tuple | set | frozenset) or not all(isinstance(one, str) for one in value):
        raise InvalidInput(f"{key} is a list of names")
    return frozenset(value)


def _trust(value: Any) -> frozenset[str]:
    named = _names(value, "trust")
    if named is None:
        return frozenset({Trust.AUTHORITATIVE.value, Trust.FIRST_PARTY.value})
    if unknown := sorted(named - {one.value for one in Trust}):
        raise InvalidInput(f"trust {unknown[0]!r} is none of {', '.join(one.value for one in Trust)}")
    return named
