"""Typed values: what may be stored, and when two of them are the same. Never by similarity."""

from __future__ import annotations

import hashlib
import json
import math
import re
import unicodedata
from collections.abc import Callable, Mapping
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any
from uuid import UUID

from muniment.canonical.rows import HeldClaim
from muniment.errors import InvalidInput
from muniment.model.memory_type import words_of
from muniment.model.policy import Cardinality, PredicatePolicy, ValueType
from muniment.model.text import require_json, require_name

MAX_VALUE_BYTES = 256 * 1024
_SPACE = re.compile(r"\s+")
_CURRENCY = re.compile(r"[A-Z]{3}")


def require_value(value: Any, policy: PredicatePolicy) -> Any:
    """`value` if it can be stored as JSON and is of the policy's type. Raises `InvalidInput` or `InvalidText`."""
    if value is None:
        raise InvalidInput("the value is missing; a claim says something")
    require_json(value, what="the value", max_bytes=MAX_VALUE_BYTES)
    normalise(value, policy)
    return value


def normalise(value: Any, policy: PredicatePolicy) -> str:
    """A text that is equal for equal values: `100` and `100.0`, `"Green  Tea"` and `"green tea"`, `"20 km"` and
    `{"amount": 20, "unit": "km"}`.

    Raises `InvalidInput` when the value is not of the type that the policy declares.
    """
    if isinstance(policy.value_type, dict):
        _require_schema(value, policy.value_type)
    elif policy.value_type is not None and (typed := _TYPED[policy.value_type](value, policy)) is not None:
        return json.dumps([policy.value_type.value, typed])
    return json.dumps(_plain(value), ensure_ascii=False, sort_keys=True)


def _require_schema(value: Any, schema: Mapping[str, Any]) -> None:
    from jsonschema import Draft202012Validator  # slow to import, and rarely declared
    from jsonschema.exceptions import best_match

    error = best_match(Draft202012Validator(schema).iter_errors(value))
    if error is not None:
        raise InvalidInput(f"the value does not fit the schema of this predicate's policy: {error.message[:200]}")


def _require_kind(kinds: type | tuple[type, ...], what: str) -> Callable[[Any, PredicatePolicy], str | None]:
    """Checks the type; such a value is compared as it would be without a declared type."""

    def check(value: Any, policy: PredicatePolicy) -> str | None:
        if not isinstance(value, kinds):
            raise InvalidInput(f"{value!r} is not {what}, which this predicate's policy asks for")
        return None

    return check


def _quantity(value: Any, policy: PredicatePolicy) -> str:
    """A number, or an amount with its unit where the policy names one: `20`, `"20 km"`, `{"amount": 20, "unit": "km"}`.
    Units are compared, never converted."""
    if policy.unit is None:
        return _number(value)
    amount, unit = _amount_of(value, "unit", default=policy.unit)
    if unit != policy.unit:
        raise InvalidInput(f"{value!r} is not in {policy.unit}, the unit of this predicate's policy; convert it first")
    return f"{_number(amount)} {unit}"


def _money(value: Any, policy: PredicatePolicy) -> str:
    """An amount with a currency (ISO 4217): `"EUR 100"`, `"100 EUR"`, `{"amount": 100, "currency": "EUR"}`."""
    amount, currency = _amount_of(value, "currency", default=None)
    if currency is None or not _CURRENCY.fullmatch(currency):
        raise InvalidInput(f"{value!r} has no currency; write it like 'EUR 100' with a code of ISO 4217")
    return f"{currency} {_number(amount)}"


def _amount_of(value: Any, key: str, *, default: str | None) -> tuple[Any, str | None]:
    if isinstance(value, dict):
        if not set(value) <= {"amount", key} or "amount" not in value or not isinstance(value.get(key, ""), str):
            raise InvalidInput(f"{value!r} is no amount; write it like {{'amount': 100, {key!r}: …}}")
        return value["amount"], value.get(key, default)
    if isinstance(value, str):
        parts = value.split()
        if len(parts) == 2:
            return (parts[1], parts[0]) if _CURRENCY.fullmatch(parts[0]) else (parts[0], parts[1])
    return value, default


def _subject(value: Any, policy: PredicatePolicy) -> str:
    return require_name(value, what="a subject as value")


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


_TYPED: Mapping[ValueType, Callable[[Any, PredicatePolicy], str | None]] = {
    ValueType.NUMBER: _quantity,
    ValueType.MONEY: _money,
    ValueType.DATE: lambda value, policy: _date(value),
    ValueType.BOOLEAN: _require_kind(bool, "a boolean"),
    ValueType.SUBJECT: _subject,
    ValueType.LIST: _require_kind((list, tuple), "a list"),
    ValueType.TEXT: _require_kind(str, "text"),
}


def slot_of(subject: str, predicate: str, scope: str, value: Any, policy: PredicatePolicy) -> UUID:
    """What may hold one truth at a time: subject, predicate and scope, and the value where many are allowed."""
    parts = [subject, predicate, scope]
    if policy.cardinality is Cardinality.MANY:
        parts.append(normalise(value, policy))
    return UUID(bytes=hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).digest()[:16])


def default_statement(subject: str, predicate: str, value: Any, scope: str, *, memory_type: str = "entity") -> str:
    """A sentence for people and for search: `contact_1842 renewal contact order: call first (renewal/2027)`."""
    words = words_of(memory_type, value)
    text = value if isinstance(value, str) else words or json.dumps(value, ensure_ascii=False)
    where = f" ({scope})" if scope else ""
    return f"{subject} {predicate.replace('_', ' ')}: {text}{where}"


def says_no_more(claim: HeldClaim, *statements: str) -> bool:
    """Whether the words of a claim are made from its value, or are one of `statements`.

    A statement in somebody's own words may hold what only its source told, so one more support does not show it to
    those who may see that support.
    """
    made = default_statement(claim.subject_id, claim.predicate, claim.value, claim.scope, memory_type=claim.memory_type)
    return claim.statement in (made, *statements)
