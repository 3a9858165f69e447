"""Typed values: what may be stored, and when two of them are the same. Never by similarity."""

from __future__ import annotations

import hashlib
import json
import math
import re
import unicodedata
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any
from uuid import UUID

from muniment.canonical.rows import HeldClaim
from muniment.errors import InvalidInput
from muniment.model.policy import Cardinality, PredicatePolicy, ValueType
from muniment.model.text import require_json, require_name

MAX_VALUE_BYTES = 256 * 1024
_SPACE = re.compile(r"\s+")


def require_value(value: Any, policy: PredicatePolicy) -> Any:
    """`value` if it can be stored as JSON and is of the policy's type. Raises `InvalidInput` or `InvalidText`."""
    if value is None:
        raise InvalidInput("the value is missing; a claim says something")
    require_json(value, what="the value", max_bytes=MAX_VALUE_BYTES)
    normalise(value, policy.value_type)
    return value


def normalise(value: Any, value_type: ValueType | None) -> str:
    """A text that is equal for equal values: `100` and `100.0`, `"Green  Tea"` and `"green tea"`.

    Raises `InvalidInput` when the value is not of the declared type.
    """
    match value_type:
        case ValueType.NUMBER:
            return json.dumps(["number", _number(value)])
        case ValueType.DATE:
            return json.dumps(["date", _date(value)])
        case ValueType.BOOLEAN if not isinstance(value, bool):
            raise InvalidInput(f"{value!r} is not a boolean, which this predicate's policy asks for")
        case ValueType.SUBJECT:
            return json.dumps(["subject", require_name(value, what="a subject as value")])
        case ValueType.LIST if not isinstance(value, list | tuple):
            raise InvalidInput(f"{value!r} is not a list, which this predicate's policy asks for")
        case ValueType.TEXT if not isinstance(value, str):
            raise InvalidInput(f"{value!r} is not text, which this predicate's policy asks for")
    return json.dumps(_plain(value), ensure_ascii=False, sort_keys=True)


def _plain(value: Any) -> Any:
    """The value with every leaf as a text that begins with its kind, so that different values never meet."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return f"boolean {value}"
    if isinstance(value, int | float):
        return f"number {_number(value)}"
    if isinstance(value, str):
        return f"text {_fold(value)}"
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return {str(key): _plain(item) for key, item in value.items()}


def _fold(text: str) -> str:
    """Case, width and white space aside. Folding can decompose, so it is composed once more afterwards."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return _SPACE.sub(" ", folded).strip()


def _number(value: Any) -> str:
    if isinstance(value, bool) or (isinstance(value, float) and not math.isfinite(value)):
        raise InvalidInput(f"{value!r} is not a number, which this predicate's policy asks for")
    try:
        number = Decimal(str(value).strip())
    except InvalidOperation:
        raise InvalidInput(f"{value!r} is not a number, which this predicate's policy asks for") from None
    if not number.is_finite():
        raise InvalidInput(f"{value!r} is not a finite number")
    # Decimal.normalize() would round to the context's 28 digits, and so make different numbers equal.
    sign, digits, exponent = number.as_tuple()
    significant = "".join(map(str, digits)).lstrip("0")
    trimmed = significant.rstrip("0")
    if not trimmed:
        return "0"
    return f"{'-' if sign else ''}{trimmed}e{int(exponent) + len(significant) - len(trimmed)}"


def _date(value: Any) -> str:
    try:
        return date.fromisoformat(str(value).strip()).isoformat()
    except ValueError:
        raise InvalidInput(
            f"{value!r} is not an ISO date such as 2027-01-15, which this predicate's policy asks for"
        ) from None


def slot_of(subject: str, predicate: str, scope: str, value: Any, policy: PredicatePolicy) -> UUID:
    """What may hold one truth at a time: subject, predicate and scope, and the value where many are allowed."""
    parts = [subject, predicate, scope]
    if policy.cardinality is Cardinality.MANY:
        parts.append(normalise(value, policy.value_type))
    return UUID(bytes=hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).digest()[:16])


def default_statement(subject: str, predicate: str, value: Any, scope: str) -> str:
    """A sentence for people and for search: `contact_1842 renewal contact order: call first (renewal/2027)`."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    where = f" ({scope})" if scope else ""
    return f"{subject} {predicate.replace('_', ' ')}: {text}{where}"


def says_no_more(claim: HeldClaim, *statements: str) -> bool:
    """Whether the words of a claim are made from its value, or are one of `statements`.

    A statement in somebody's own words may hold what only its source told, so one more support does not show it to
    those who may see that support.
    """
    made = default_statement(claim.subject_id, claim.predicate, claim.value, claim.scope)
    return claim.statement in (made, *statements)
