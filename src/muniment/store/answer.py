"""Answers to statements that were sent and perhaps not yet read: several of them share one round trip."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from muniment.store.database import Tx
from muniment.store.statements import sql

T = TypeVar("T")
Row = dict[str, Any]


class Answer(Generic[T]):
    """The result of a statement in a pipeline; `get` waits for it. Send all that you need before the first `get`."""

    def __init__(self, tx: Tx, statement: str, parameters: dict[str, Any], read: Callable[[list[Row]], T]) -> None:
        self._tx = tx
        self._cursor = tx.dict_cursor()
        self._cursor.execute(sql(statement), parameters)
        self._read = read

    def get(self) -> T:
        """The rows, as `read` made them."""
        if self._cursor.description is None:
            self._tx.sync()
        return self._read(self._cursor.fetchall())
