"""muniment: long-term memory for AI agents that can show its evidence.

`open()` gives a `Memory`, `Memory.session(tenant=…)` a `Session`; see the README for ten lines that run. Everything is
imported when it is first used, so that importing the package costs little.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from muniment.aio import AsyncMemory, AsyncSession, open_async
    from muniment.errors import MunimentError
    from muniment.memory import Memory
    from muniment.memory import open_memory as open  # noqa: A004 - the verb a user types is muniment.open
    from muniment.model.claim import Claim, Decision
    from muniment.model.evidence import Evidence, Span
    from muniment.model.payload import Payload
    from muniment.model.policy import PredicatePolicy
    from muniment.model.remember import Remembered, RetryReport
    from muniment.model.turn import Call, Evaluation, Reply, TurnResult
    from muniment.session import Session

_HOMES = {
    "AsyncMemory": "muniment.aio",
    "AsyncSession": "muniment.aio",
    "Call": "muniment.model.turn",
    "Claim": "muniment.model.claim",
    "Decision": "muniment.model.claim",
    "Evaluation": "muniment.model.turn",
    "Evidence": "muniment.model.evidence",
    "Memory": "muniment.memory",
    "MunimentError": "muniment.errors",
    "Payload": "muniment.model.payload",
    "PredicatePolicy": "muniment.model.policy",
    "Remembered": "muniment.model.remember",
    "Reply": "muniment.model.turn",
    "RetryReport": "muniment.model.remember",
    "Session": "muniment.session",
    "Span": "muniment.model.evidence",
    "TurnResult": "muniment.model.turn",
    "open": "muniment.memory",
    "open_async": "muniment.aio",
}

__all__ = [
    "AsyncMemory",
    "AsyncSession",
    "Call",
    "Claim",
    "Decision",
    "Evaluation",
    "Evidence",
    "Memory",
    "MunimentError",
    "Payload",
    "PredicatePolicy",
    "Remembered",
    "Reply",
    "RetryReport",
    "Session",
    "Span",
    "TurnResult",
    "open",
    "open_async",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'muniment' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), "open_memory" if name == "open" else name)
