"""The README and the docs are executed, and say what there is."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from muniment.cli.app import app

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks() -> Iterator[tuple[str, str, str]]:
    for page in PAGES:
        for number, (language, text) in enumerate(BLOCK.findall(page.read_text(encoding="utf-8"))):
            yield f"{page.name}-{number}", language, text


def run(command: list[str], home: Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"MUNIMENT_HOME": str(home), "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=environment, timeout=120, check=False)


@pytest.mark.parametrize(
    ("language", "text"), [pytest.param(language, text, id=name) for name, language, text in blocks()]
)
def test_the_examples_of_the_docs_run(language: str, text: str, tmp_path: Path) -> None:
    if language == "python":
        done = run([sys.executable, "-W", "error", "-c", text], tmp_path / "home", tmp_path)
        assert done.returncode == 0, done.stderr
        return
    for line in text.splitlines():
        assert line.startswith("$ muniment "), line
        done = run([sys.executable, "-m", *shlex.split(line.removeprefix("$ "))], tmp_path / "home", ROOT)
        assert done.returncode in (0, 1), done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_each_page_ends_with_its_limits(page: Path) -> None:
    headings = re.findall(r"^## (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert headings[-1] == "Limits"


@pytest.mark.parametrize(
    "page", [*PAGES, ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md"], ids=lambda page: page.name
)
def test_every_link_leads_to_a_file(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def commands(of: typer.Typer = app, prefix: str = "") -> dict[str, typer.models.CommandInfo]:
    mine = {
        prefix + (info.name or info.callback.__name__): info
        for info in of.registered_commands
        if info.callback is not None
    }
    for group in of.registered_groups:
        assert group.typer_instance is not None
        mine |= commands(group.typer_instance, f"{prefix}{group.name} ")
    return mine


def test_every_command_has_help_and_a_line_in_the_docs() -> None:
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    for name, info in commands().items():
        assert info.callback is not None
        assert info.callback.__doc__, name
        assert f"`{name}`" in page or f"`{name}`," in page, name


def test_the_quick_start_is_ten_lines_without_a_key_a_server_or_a_download() -> None:
    first = next(text for _, language, text in blocks() if language == "python")
    lines = [line for line in first.splitlines() if line.strip()]
    assert len(lines) <= 10
