"""LoCoMo's chat files: a message a turn, in order, in the session's time."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from muniment.errors import UnreadableFile
from muniment.readers import locomo
from muniment.readers.port import Read, Unread
from muniment.readers.registry import reader_for

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data" / "locomo" / "locomo_dev5.json"


def conversation(**changes: Any) -> dict[str, Any]:
    chat = {
        "speaker_a": "Ann",
        "speaker_b": "Ben",
        "session_10_date_time": "12:05 am on 1 January, 2024",
        "session_10": [{"speaker": "Ben", "dia_id": "D10:1", "text": "Happy new year"}],
        "session_2_date_time": "1:56 pm on 8 May, 2023",
        "session_2": [
            {"speaker": "Ann", "dia_id": "D2:1", "text": "Hi", "blip_caption": "a red kite"},
            {"speaker": "Ben", "dia_id": "D2:2", "blip_caption": "a lake"},
        ],
        "session_1": [{"speaker": "Ann", "dia_id": "D1:1", "text": "Hello"}],
    }
    return {"qa": [], "sample_id": "conv-1", "conversation": chat | changes}


def read(path: Path, value: Any) -> list[Read | Unread]:
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return list(locomo.read(path))


def test_turns_become_messages_in_the_order_of_the_sessions(tmp_path: Path) -> None:
    items = read(tmp_path / "x.json", [conversation()])
    drafts = [item.draft for item in items if isinstance(item, Read)]
    assert [each.source_id for each in drafts] == ["conv-1:D1:1", "conv-1:D2:1", "conv-1:D2:2", "conv-1:D10:1"]
    assert [each.content for each in drafts] == [
        "Hello", "Hi [shares a photo: a red kite]", "[shares a photo: a lake]", "Happy new year"
    ]  # fmt: skip
    kite = drafts[1]
    assert (kite.source, kite.author, kite.role, kite.thread) == ("locomo", "Ann", "user", "conv-1:session_2")
    assert kite.metadata == {"session": 2, "dia_id": "D2:1", "sample_id": "conv-1"}


def test_a_turn_happens_at_its_sessions_time_in_utc_and_a_second_after_the_one_before(tmp_path: Path) -> None:
    items = read(tmp_path / "x.json", [conversation()])
    times = [item.draft.occurred_at for item in items if isinstance(item, Read)]
    assert times == [
        None,
        datetime(2023, 5, 8, 13, 56, 0, tzinfo=UTC),
        datetime(2023, 5, 8, 13, 56, 1, tzinfo=UTC),
        datetime(2024, 1, 1, 0, 5, 0, tzinfo=UTC),
    ]
    assert isinstance(items[0], Read)
    assert "time is unknown" in items[0].draft.metadata["repaired"][0]


@pytest.mark.parametrize(
    "told", ["13:00 pm on 8 May, 2023", "1:56 pm on 31 June, 2023", "1:56 on 8 May, 2023", "1:56 pm on 8 Mai, 2023", 7]
)
def test_a_time_that_cannot_be_read_is_unknown(tmp_path: Path, told: Any) -> None:
    item = read(tmp_path / "x.json", [conversation(session_1_date_time=told)])[0]
    assert isinstance(item, Read)
    assert item.draft.occurred_at is None


@pytest.mark.parametrize(
    ("turn", "code"),
    [
        ({"speaker": "Ann", "dia_id": "D1:1"}, "invalid_input"),
        ({"speaker": "Ann", "text": "x"}, "invalid_input"),
        ({"dia_id": "D1:1", "text": "x"}, "invalid_input"),
        ({"speaker": "Ann", "dia_id": "D1:1", "text": 5}, "invalid_input"),
        ({"speaker": "Ann", "dia_id": "D1:1", "text": "\x00"}, "invalid_text"),
        ({"speaker": "Ann", "dia_id": "D1:1", "text": "\ud800"}, "invalid_text"),
        ("words", "invalid_input"),
        (None, "invalid_input"),
    ],
)
def test_a_bad_turn_is_refused_in_its_place(tmp_path: Path, turn: Any, code: str) -> None:
    good = {"speaker": "Ann", "dia_id": "D1:2", "text": "Hello"}
    items = read(tmp_path / "x.json", [conversation(session_1=[turn, good])])
    assert isinstance(items[0], Unread)
    assert (items[0].rejection.item, items[0].rejection.code) == ("conv-1 session_1 turn 1", code)
    assert [type(item) for item in items[1:]] == [Read] * 4


def test_a_bad_conversation_or_session_never_costs_the_others(tmp_path: Path) -> None:
    items = read(tmp_path / "x.json", [{"sample_id": "a"}, 7, {"sample_id": "\ud800"}, conversation(session_2="lost")])
    assert [item.rejection.item for item in items if isinstance(item, Unread)] == [
        "conversation 1", "conversation 2", "conversation 3", "conv-1 session_2"
    ]  # fmt: skip
    assert len([item for item in items if isinstance(item, Read)]) == 2


def test_a_file_that_breaks_off_gives_the_conversations_before(tmp_path: Path) -> None:
    whole = json.dumps([conversation(), conversation()])
    items = read(tmp_path / "x.json", whole[:-30])
    assert [type(item) for item in items] == [Read] * 4 + [Unread]
    assert isinstance(items[-1], Unread)
    assert items[-1].rejection.item == "conversation 2"


@pytest.mark.parametrize("value", ["", " \n", "[]", "[ ]"])
def test_a_file_without_conversations_has_no_items(tmp_path: Path, value: str) -> None:
    assert read(tmp_path / "x.json", value) == []


def test_a_long_list_of_other_things_takes_little_time(tmp_path: Path) -> None:
    assert len(read(tmp_path / "x.json", [1] * 200_000)) == 200_000


def test_deep_nesting_is_refused(tmp_path: Path) -> None:
    (item,) = read(tmp_path / "x.json", '[{"a":' + "[" * 200_000)
    assert isinstance(item, Unread)


def test_bytes_that_are_not_utf8_make_the_file_unreadable(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(b"[\xff{}]")
    with pytest.raises(UnreadableFile):
        list(locomo.read(path))


def test_the_shape_is_recognised_whatever_the_name(tmp_path: Path) -> None:
    path = tmp_path / "chats.data"
    path.write_text(json.dumps([conversation()]))
    assert reader_for(path) is locomo
    path.write_text(json.dumps([{"conversation": {"session": []}}]))
    with pytest.raises(UnreadableFile):
        reader_for(path)


@pytest.mark.skipif(not SHARED.exists(), reason="the LoCoMo file is not in the checkout")
def test_the_real_file_is_read_whole() -> None:
    assert reader_for(SHARED) is locomo
    items = list(locomo.read(SHARED))
    drafts = [item.draft for item in items if isinstance(item, Read)]
    assert len(drafts) == len(items) == 2760
    assert len({each.source_id for each in drafts}) == 2760
    assert all(each.occurred_at is not None for each in drafts)
    assert items[-1].position <= SHARED.stat().st_size
