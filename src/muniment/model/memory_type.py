"""The memory types: declared once, stored as claims or as evidence, read as their kind asks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from muniment.errors import InvalidInput
from muniment.model.base import Instant, Record
from muniment.model.evidence import EvidenceKind
from muniment.model.policy import TYPE_POLICIES, PredicatePolicy


class _Value(BaseModel):
    """A value model: unknown fields are refused, so that a slip is not stored."""

    model_config = ConfigDict(extra="forbid", strict=False, frozen=True)


class Guideline(_Value):
    """What binds whoever acts in the scope. Lower `priority` comes first."""

    text: str = Field(min_length=1)
    priority: int = 100


class Workflow(_Value):
    """A procedure that worked: what it is for, its steps in order, and what must hold before it begins."""

    description: str = Field(min_length=1)
    steps: tuple[str, ...] = Field(min_length=1)
    preconditions: tuple[str, ...] = ()
    expected_outcome: str | None = None


class Tool(_Value):
    """A tool as an agent may call it: the JSON schema of its arguments, who handles it, and how to use it well."""

    description: str = Field(min_length=1)
    parameters: dict[str, Any]
    handler: str | None = None
    usage_notes: str | None = None


class Episode(_Value):
    """A piece of finished work: what happened in which run. The evidence of the claim pins the versions it tells of."""

    title: str = Field(min_length=1)
    summary: str = Field(min_length=1)
    outcome: str = Field(min_length=1)
    run: str = Field(min_length=1)
    key_steps: tuple[str, ...] = ()
    completed_at: AwareDatetime | None = None


@dataclass(frozen=True, slots=True)
class MemoryType:
    """One declaration.

    `kinds`: the evidence kinds that hold it, when its rows are evidence. `value`: the model of its value, when its rows
    are claims and have one; `text_allowed` takes a plain string for the first field. `words`: the fields that its
    statement is made of. `read`: `enumerated` types are returned in full and in `order`; the others are searched.
    """

    name: str
    canonical: Literal["claims", "evidence"]
    read: Literal["enumerated", "hybrid", "similarity", "thread"]
    kinds: tuple[EvidenceKind, ...] = ()
    value: type[_Value] | None = None
    text_allowed: bool = False
    words: tuple[str, ...] = ()
    order: Callable[[Any], Any] = lambda value: 0

    @property
    def policy(self) -> PredicatePolicy | None:
        """What rules where a tenant declares nothing; None: the general default."""
        return TYPE_POLICIES.get(self.name)


def _by_priority(value: Any) -> int:
    return int(value.get("priority", 100)) if isinstance(value, Mapping) else 100


MEMORY_TYPES: Mapping[str, MemoryType] = {
    declared.name: declared
    for declared in (
        MemoryType(
            "guideline", "claims", "enumerated", value=Guideline, text_allowed=True, words=("text",), order=_by_priority
        ),
        MemoryType("persona", "claims", "enumerated"),
        MemoryType("entity", "claims", "hybrid"),
        MemoryType("episode", "claims", "hybrid", value=Episode, words=("title", "summary")),
        MemoryType("conversation", "evidence", "thread", kinds=(EvidenceKind.MESSAGE, EvidenceKind.EVENT)),
        MemoryType("workflow", "claims", "similarity", value=Workflow, words=("description",)),
        MemoryType("tool", "claims", "enumerated", value=Tool, words=("description", "usage_notes")),
        MemoryType("knowledge_base", "evidence", "hybrid", kinds=(EvidenceKind.DOCUMENT,)),
    )
}
"""The eight types. A claim may carry another name; then it is read as an entity is."""


def require_value_of(memory_type: str, value: Any) -> Any:
    """The value, when it fits its memory type. Raises `InvalidInput`."""
    declared = MEMORY_TYPES.get(memory_type)
    if declared is None or (declared.text_allowed and isinstance(value, str)):
        return value
    if declared.canonical == "evidence":
        kinds = " or ".join(kind.value for kind in declared.kinds)
        raise InvalidInput(f"{memory_type} memory is evidence, not a claim: store it with add(kind={kinds})")
    if declared.value is not None:
        try:
            declared.value.model_validate(value)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"]) or "the value"
            fields = ", ".join(
                name if field.is_required() else f"[{name}]" for name, field in declared.value.model_fields.items()
            )
            raise InvalidInput(
                f"{memory_type} memory takes an object of {fields}; {where}: {first['msg'].lower()}"
            ) from None
    return value


def words_of(memory_type: str, value: Any) -> str | None:
    """What a value says in words, for its statement; None where the value itself is the words."""
    declared = MEMORY_TYPES.get(memory_type)
    if declared is None or not isinstance(value, Mapping):
        return None
    return ". ".join(str(value[name]) for name in declared.words if value.get(name)) or None


class Outcomes(Record):
    """How a workflow, or any other claim, fared, counted from outcome evidence that the session may see."""

    claim_id: str
    successes: int
    failures: int
    last_at: datetime | None


class Pin(Record):
    """One evidence version that a claim rests on, and how far its source has moved on since."""

    evidence_id: str
    source: str
    source_id: str
    version: int
    latest_version: int
    occurred_at: Instant | None

    @property
    def behind(self) -> int:
        """By how many versions."""
        return self.latest_version - self.version

    def __str__(self) -> str:
        now = f"; it is now v{self.latest_version}" if self.behind else ""
        return f"derived from {self.source}:{self.source_id} v{self.version}{now}"
