"""Declared rules read candidates out of what persons plainly said, and out of nothing else."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muniment.errors import InvalidInput
from muniment.extract.port import Candidate, Extraction
from muniment.extract.rules import MAX_SENTENCE, RulesExtractor
from muniment.extract.values import VALUE_TYPES, Unreadable, typed
from muniment.model.evidence import Evidence, EvidenceKind, Trust
from tests.unit.test_echo import payload

SAID = datetime(2023, 5, 8, 17, 0, tzinfo=UTC)
BASIC = RulesExtractor.basic()
thorough = settings(max_examples=150, deadline=None)


def said(content: str, **given: Any) -> Evidence:
    fields: dict[str, Any] = {
        "evidence_id": "e1", "source": "chat", "source_id": "m1", "source_version": 1, "kind": EvidenceKind.MESSAGE, "content": content,
        "author": "ann", "role": "user", "thread": None, "trust": Trust.FIRST_PARTY, "uri": None, "media_type": "text/plain", "metadata": {},
        "occurred_at": SAID, "utc_offset": 480, "observed_at": SAID, "recorded_at": SAID, "content_sha256": "", "replaces": None,
        "authorization_scope": None,
    }  # fmt: skip
    return Evidence(**(fields | given))


def read(extractor: RulesExtractor, content: str, **given: Any) -> Extraction:
    (extraction,) = extractor.extract([said(content, **given)])
    assert extraction.failure is None
    return extraction


def triples(extractor: RulesExtractor, content: str, **given: Any) -> list[tuple[str, str, Any]]:
    return [(one.subject, one.predicate, one.value) for one in read(extractor, content, **given).candidates]


def rule(pattern: str, **given: Any) -> RulesExtractor:
    return RulesExtractor.of([{"pattern": pattern, "predicate": "p", "subject": "s"} | given])


def only(extraction: Extraction) -> Candidate:
    assert extraction.refused == ()
    (candidate,) = extraction.candidates
    return candidate


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Patient Rossi weighs 70 kg.", [("Patient Rossi", "weight", {"amount": 70, "unit": "kg"})]),
        ("I weigh 70.5 kg now.", [("ann", "weight", {"amount": 70.5, "unit": "kg"})]),
        ("I live in New York and I work at Acme.", [("ann", "lives_in", "New York"), ("ann", "works_at", "Acme")]),
        ("Janet works for Acme Labs, and manages billing.", [("Janet", "works_at", "Acme Labs")]),
        ("I really like black and white films.", [("ann", "likes", "black and white films")]),
        ("I prefer tea to coffee.", [("ann", "prefers", "tea")]),
        ("I'm allergic to peanuts, sadly.", [("ann", "allergic_to", "peanuts")]),
        ("Bob's allergic to nuts", [("Bob", "allergic_to", "nuts")]),
        ("My name is Ann Lee. My birthday is on 3 May.", [("ann", "name", "Ann Lee"), ("ann", "birthday", "3 May")]),
        ("Bob's birthday is May 5th", [("Bob", "birthday", "May 5th")]),
        ("I think Janet lives in Rome", [("Janet", "lives_in", "Rome")]),
        ("Bob said that Janet lives in Rome", [("Janet", "lives_in", "Rome")]),
    ],
)  # fmt: skip
def test_the_bundled_rules_read_plain_statements(text: str, expected: list[tuple[str, str, Any]]) -> None:
    assert triples(BASIC, text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Does Janet live in Rome?", "What are the figures for user Christophe?", "If I live in Rome, I pay less.", "I don't like tea", "I'd like tea",
        "I never said that I live in Rome.", "Everyone lives in Rome", "She works at Acme", "The head of Acme Corp lives in Rome", "My brother lives in Rome",
        "Neither Tom nor Janet lives in Rome", "I like it", "I like how you did that", "Is it true that Bob works at Acme?", "I used to live in Rome",
        "Janet no longer works at Acme", "I work at home", "He manages age 7", "", "it works for me", 'Bob said: "I live in Rome."', "> I live in Rome",
    ],
)  # fmt: skip
def test_the_bundled_rules_leave_what_is_not_surely_said(text: str) -> None:
    assert triples(BASIC, text) == []


def test_three_speakers_keep_their_own_facts() -> None:
    batch = [said("I like tea.", author=author) for author in ("ann", "bob", None)]
    found = BASIC.extract(batch)
    assert [[one.subject for one in extraction.candidates] for extraction in found] == [["ann"], ["bob"], []]
    assert [one.code for one in found[2].refused] == ["no_subject"]


def test_who_is_quoted_is_not_the_author() -> None:
    extraction = read(BASIC, 'Bob wrote: "It is hot. I live in Rome. Come!"')
    assert extraction.candidates == ()
    assert [one.code for one in extraction.refused] == ["no_subject"]


@pytest.mark.parametrize(
    "given",
    [{"role": "assistant"}, {"role": "tool"}, {"role": "system"}, {"trust": Trust.THIRD_PARTY}, {"trust": Trust.MODEL}],
)
def test_only_persons_who_are_trusted_are_heard(given: dict[str, Any]) -> None:
    assert read(BASIC, "I live in Rome", **given) == Extraction()


def test_a_rule_may_name_whom_it_hears() -> None:
    extractor = rule("(?P<value>tea)", roles=["tool"], trust=["third_party"])
    assert triples(extractor, "tea", role="tool", trust=Trust.THIRD_PARTY) == [("s", "p", "tea")]
    assert triples(extractor, "tea") == []


def test_whole_words_unless_the_rule_says_otherwise() -> None:
    assert triples(rule("(?P<value>age)"), "Janet manages, at the age: of 7") == [("s", "p", "age")]
    assert triples(rule("(?P<value>age)", whole_word=False), "Janet manages") == [("s", "p", "age")]


def test_two_predicates_of_one_sentence_come_by_position_then_by_rule() -> None:
    extractor = RulesExtractor.of(
        [
            {
                "pattern": r"(?P<who>Janet).*responsible for (?P<value>\w+)",
                "predicate": "responsible_for",
                "subject": "{who}",
            },
            {"pattern": r"(?P<who>Janet) works at (?P<value>\w+)", "predicate": "works_at", "subject": "{who}"},
            {"pattern": r"(?P<value>billing)", "predicate": "topic", "subject": "team"},
        ]
    )
    assert triples(extractor, "Janet works at Acme and is responsible for billing.") == [
        ("Janet", "responsible_for", "billing"),
        ("Janet", "works_at", "Acme"),
        ("team", "topic", "billing"),
    ]


def test_matches_of_a_rule_do_not_overlap_and_stay_in_a_sentence() -> None:
    assert [one[2] for one in triples(rule(r"(?P<value>\w+ \w+)"), "one two three four. five\n\nsix")] == [
        "one two",
        "three four",
    ]


def test_the_span_is_the_match_or_the_group_named_span_trimmed() -> None:
    text = "So the rate is 4 % today."
    whole = only(read(rule(r"\s*rate is (?P<value>\d) %\s", whole_word=False), text))
    assert text[whole.start : whole.end] == "rate is 4 %"
    part = only(read(rule(r"rate is (?P<span>(?P<value>\d) %)", whole_word=False), text))
    assert text[part.start : part.end] == "4 %"


def test_templates_literals_and_types() -> None:
    extractor = rule(
        r"(?P<who>\w+) pays (?P<rate>[\d.,]+ ?%) for (?P<deal>\w+)", subject="customer {who}", value="{rate}", value_type="number",
        scope="deal/{deal}", statement="{who} pays {rate}, says {author}", confidence=0.5, memory_type="persona",
    )  # fmt: skip
    found = only(read(extractor, "Acme pays 6 % for renewal"))
    assert (found.subject, found.value, found.scope) == ("customer Acme", 6, "deal/renewal")
    assert (found.statement, found.confidence, found.memory_type) == ("Acme pays 6 %, says ann", 0.5, "persona")
    assert triples(rule("stop mailing", value=False), "Please stop mailing us") == [("s", "p", False)]
    assert triples(rule("(?P<value>tea)", subject="{author}"), "tea") == [("ann", "p", "tea")]


def test_a_date_is_a_value_and_becomes_a_period_only_where_the_rule_asks() -> None:
    text = "The contract ends on 2027-12-22"
    pattern = r"contract ends on (?P<value>[\w-]+)"
    plain = only(read(rule(pattern, value_type="date"), text))
    assert (plain.value, plain.valid_from, plain.valid_to) == ("2027-12-22", None, None)
    asked = only(read(rule(pattern, value="ends", valid_to="{value}"), text))
    assert asked.valid_from is None
    assert asked.valid_to is not None
    assert asked.valid_to.isoformat() == "2027-12-22T00:00:00+08:00"


def test_a_relative_date_is_one_of_the_day_it_was_said_where_it_was_said() -> None:
    extractor = rule(r"moved to (?P<value>\w+)(?: (?P<when>today|last \w+))?", valid_from="{when}")
    first = only(read(extractor, "Ann moved to Rome today"))
    assert first.valid_from is not None
    assert first.valid_from.isoformat() == "2023-05-09T00:00:00+08:00"  # 17:00 in UTC is the next day at +08:00
    assert only(read(extractor, "Ann moved to Rome")).valid_from is None
    unknown = read(extractor, "Ann moved to Rome last week", occurred_at=None)
    assert [one.code for one in unknown.refused] == ["unreadable_value"]


@pytest.mark.parametrize(
    ("text", "value_type", "value"),
    [
        ("6 %", "number", 6), ("1,250.50", "number", 1250.5), ("4,5", "number", 4.5), ("1,250", "number", 1250), ("-3", "number", -3), ("2.0", "number", 2),
        ("70 kg", "quantity", {"amount": 70, "unit": "kg"}), ("EUR 100", "money", {"amount": 100, "currency": "EUR"}),
        ("100 €", "money", {"amount": 100, "currency": "EUR"}), ("3 May 2027", "date", "2027-05-03"), ("yes", "boolean", True),
        ("Not  allowed", "boolean", False), ("tea, milk and salt", "list", ["tea", "milk", "salt"]), ("tea", "text", "tea"),
    ],
)  # fmt: skip
def test_words_become_values_of_their_type(text: str, value_type: str, value: Any) -> None:
    found = typed(text, value_type, SAID)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("text", "value_type"),
    [
        ("six", "number"), ("1.2.3", "number"), ("4 or 5", "number"), ("70", "quantity"), ("$ 5", "money"), ("5", "money"), ("EUR 5 USD", "money"),
        ("in March", "date"), ("99999999 days ago", "date"), ("perhaps", "boolean"), ("1,25,0", "number"), ("١٢ kg x 5", "quantity"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_and_never_guessed(text: str, value_type: str) -> None:
    with pytest.raises(Unreadable):
        typed(text, value_type, SAID)
    extraction = read(rule("(?P<value>.+)", value_type=value_type, whole_word=False), text)
    assert extraction.candidates == ()
    assert all(one.code == "unreadable_value" for one in extraction.refused)


def test_words_that_muniment_wrote_add_nothing() -> None:
    echo = payload().to_prompt()
    assert triples(BASIC, f"{echo}\nI like tea.") == [("ann", "likes", "tea")]
    assert triples(BASIC, str(payload().to_json()) + " I like tea.") == [("ann", "likes", "tea")]


@pytest.mark.parametrize(
    "bad",
    [
        {"pattern": "("}, {"pattern": ""}, {"pattern": 5}, {"pattern": "a*"}, {"pattern": "a)(?:b"}, {"pattern": "x" * 5000}, {"value": "{nothing}"},
        {"subject": "{who}"}, {"subject": ""}, {"value_type": "colour"}, {"confidence": 2}, {"confidence": True}, {"roles": "user"}, {"trust": ["me"]},
        {"flags": "q"}, {"whole_word": 1}, {"predicate": ""}, {"colour": "red"}, {"valid_from": 3}, {"value_type": []}, {"value": SAID}, {"value": None}, {5: 6}, {"roles": {"a": 1}}, {"scope": "{x}"},
    ],
)  # fmt: skip
def test_a_bad_rule_is_refused_by_name(bad: dict[Any, Any]) -> None:
    good = {"pattern": "(?P<value>tea)", "predicate": "p", "subject": "s"}
    with pytest.raises(InvalidInput, match=r"^rule 2 \(drinks\): "):
        RulesExtractor.of([good, good | {"name": "drinks"} | bad])


def test_a_file_of_rules_is_read_and_a_mistake_is_named_with_its_table(tmp_path: Path) -> None:
    file = tmp_path / "rules.toml"
    table = "[[rule]]\npattern = '(?P<value>tea)'\npredicate = 'drinks'\nsubject = '{author}'\n"
    file.write_text(table, encoding="utf-8")
    assert triples(RulesExtractor.load(file), "tea") == [("ann", "drinks", "tea")]
    file.write_text(table + table + "flags = \n", encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"^rules\.toml: rule 2: "):
        RulesExtractor.load(file)
    file.write_text(table + table + "flags = 'q'\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"^rules\.toml: rule 2: flags"):
        RulesExtractor.load(file)
    file.write_text("rules = 1\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match="nothing else"):
        RulesExtractor.load(file)
    with pytest.raises(InvalidInput, match="cannot be read"):
        RulesExtractor.load(tmp_path / "none.toml")


def test_other_rules_have_another_name_and_the_same_ones_the_same() -> None:
    assert rule("(?P<value>a)").name == rule("(?P<value>a)").name != rule("(?P<value>b)").name


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"(?P<value>(a|aa)+)b\1c", "a" * 1900),
        (r"(?P<value>(?:\w|\w\w|\w+)+)(?<=x)!", "word" * 400),
        (r"(?P<value>(?:.*.*)*)=(?!.)\b", "x " * 900),
    ],
)  # fmt: skip
def test_a_hostile_rule_gives_nothing_in_bounded_time_and_harms_no_other(pattern: str, text: str) -> None:
    hostile = {"pattern": pattern, "predicate": "bad", "subject": "s", "whole_word": False}
    good = {"pattern": "(?P<value>tea)", "predicate": "good", "subject": "s"}
    extraction = read(RulesExtractor.of([hostile, good]), f"tea\n\n{text}")
    assert [(one.predicate, one.value) for one in extraction.candidates] == [("good", "tea")]


def test_a_rule_that_runs_out_of_time_says_so() -> None:
    extraction = read(rule(r"(?P<value>(?:(a|aa)+)+)(?:b|\2{900}c)", whole_word=False), "a" * 1900)
    assert extraction.candidates == ()
    assert [one.code for one in extraction.refused] == ["rule_too_slow"]


def test_a_text_without_a_full_stop_is_read_in_pieces() -> None:
    text = "word " * MAX_SENTENCE + "so Janet lives in Rome"
    assert triples(BASIC, text) == [("Janet", "lives_in", "Rome")]
    read(BASIC, "x" * 300_000)


SENTENCES = st.lists(
    st.sampled_from(
        [
            "I",
            "Janet",
            "Bob",
            "like",
            "likes",
            "tea",
            "lives in",
            "Rome",
            "works at",
            "Acme",
            ".",
            "?",
            "\n",
            "if",
            '"',
            "My name is",
            "weighs",
            "70 kg",
            "'s",
            ">",
            "，",
            "é",
        ]
    ),
    max_size=25,
).map(" ".join)


@thorough
@given(SENTENCES | st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=80))
def test_spans_are_inside_and_hold_what_was_matched(text: str) -> None:
    extraction = read(BASIC, text)
    places = [one.start for one in extraction.candidates]
    assert places == sorted(places)
    for one in extraction.candidates:
        words = text[one.start : one.end]
        assert words == words.strip() != ""
        assert one.subject == "ann" or one.subject in words
        assert isinstance(one.value, dict) or one.value in words
    assert BASIC.extract([said(text)]) == [extraction]


def test_every_value_type_takes_any_text() -> None:
    for value_type in VALUE_TYPES:
        for text in ("", "\t", "9" * 400, "1e400", "é", "½", "-"):
            try:
                typed(text, value_type, SAID)
            except Unreadable:
                continue
