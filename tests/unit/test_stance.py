"""How words are meant, by tables; only the sentence of the span counts."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muniment.extract.stance import LONG, WINDOW, Stance, sentence_at, sentences, stance_of

thorough = settings(max_examples=200, deadline=None)
FLAGS = ("question", "hypothetical", "hedged", "reported", "denied")


def meant(text: str, words: str | None = None) -> set[str]:
    start = text.index(words) if words else 0
    stance = stance_of(text, start, start + len(words or text))
    return {flag for flag in FLAGS if getattr(stance, flag)}


@pytest.mark.parametrize(
    "text",
    [
        "Call me first.", "Janet works at Acme.", "We meet on May 5.", "The month of May is nice.", "In May we signed.",
        "She has a mighty voice.", "The might of Rome was great.", "With all his might he pushed.", "He is diffident about gifts.",
        "The wife drifted off.", "He wouldn't sign.", "I would like you to call me first.", "I'd rather have tea.",
        "Call me first, and let me know if anything changes.", "John's car is red.", "We don't work on the '90s list.",
        'The pipe is 6" wide and 8" long.', "The pump works at 4.5 % load.", "See https://example.org/?q=1&if=2 for it.",
        "The contract is unlikeable.", "Wood is the material.", "Bob said hello and lives in Rome.", "I said that we signed.",
        'My favourite book is "Dune" by Herbert.', "这个合同是4%。", "契約は4%です。", "Der Vertrag gilt am 3. Mai weiter.",
        "The iffy gift.", "I/O is slow.",
    ],
)  # fmt: skip
def test_a_plain_statement_is_plain(text: str) -> None:
    assert meant(text) == set()


@pytest.mark.parametrize(
    ("flag", "text"),
    [
        ("question", "Is that ok?"), ("question", "is that ok"), ("question", "What are the figures for user Christophe?"),
        ("question", "do you know if Janet works at Acme"), ("question", "Wouldn't it be nice"), ("question", "Really?!"),
        ("question", "He signed (did he?)"), ("question", "¿Te gusta el té?"), ("question", "你喜欢茶吗"), ("question", "你喜欢茶吗？"),
        ("question", "お茶は好きですか。"), ("question", "차를 좋아합니까"), ("question", "Wohnst du in Rom?"), ("question", "How many seats do we have"),
        ("hypothetical", "If we signed at 4 %, the margin holds."), ("hypothetical", "Suppose we sign at 4 %."),
        ("hypothetical", "What if the rate is 4 %."), ("hypothetical", "We would sign at 4 %."), ("hypothetical", "Angenommen, wir zahlen 4 %."),
        ("hypothetical", "Unless he pays, we stop."), ("hypothetical", "如果我们签4%，就好。"), ("hypothetical", "もし契約が4%なら良い。"),
        ("hypothetical", "Supposons que le taux est de 4 %."), ("hypothetical", "Stel dat we tekenen."),
        ("hedged", "I think she lives in Rome."), ("hedged", "Maybe it is 4 %."), ("hedged", "It might rain."), ("hedged", "She may leave."),
        ("hedged", "Perhaps."), ("hedged", "It is probably 4 %."), ("hedged", "I'm not sure it is 4 %."), ("hedged", "I guess it is tea."),
        ("hedged", "I’m not sure."), ("hedged", "Vielleicht sind es 4 %."), ("hedged", "C'est peut-être 4 %."), ("hedged", "Quizás es té."),
        ("hedged", "Forse è tè."), ("hedged", "Misschien is het thee."), ("hedged", "也许是4%。"), ("hedged", "4%かもしれない。"), ("hedged", "아마 4%입니다."),
        ("reported", "Bob said that Janet lives in Rome."), ("reported", "According to Bob, it is 4 %."), ("reported", "Laut Bob sind es 4 %."),
        ("reported", "Call me first, he said: now"), ("reported", "> I live in Rome"), ("reported", "据说是4%。"), ("reported", "Bob told me that it is 4 %."),
        ("denied", "It is not true that we signed."), ("denied", "I never said we signed."), ("denied", "That's not the case that we signed."),
        ("denied", "Es stimmt nicht."), ("denied", "No es verdad que firmamos."), ("denied", "这不是真的。"),
    ],
)  # fmt: skip
def test_what_is_not_plainly_said_is_flagged(flag: str, text: str) -> None:
    assert flag in meant(text)


@pytest.mark.parametrize("marks", ['""', "“”", "„“", "„”", "«»", "»«", "「」", "『』", "‘’", "''"])
def test_words_inside_quotation_marks_are_somebody_elses(marks: str) -> None:
    text = f"Before it: {marks[0]}We don't pay. Call me first.{marks[1]} After it we went."
    assert "reported" in meant(text, "Call me first")
    assert "reported" not in meant(text, "After it")
    assert "reported" not in meant(text, "Before it")


def test_a_mark_that_is_never_closed_ends_with_its_paragraph() -> None:
    for line in ("\n", "\r\n"):
        assert "reported" not in meant(f'He wrote: "It is hot.{line}{line}Call me first.', "Call me first")


def test_an_apostrophe_is_no_quotation_mark() -> None:
    assert meant("It’s John’s, and the boys’ house doesn’t leak.", "house") == set()
    assert meant("It's John's, and the boys' house leaks.", "house") == set()


@pytest.mark.parametrize(
    ("text", "words", "flags"),
    [
        ("Thank you. Is that ok? Call me first.", "Call me first", set()),
        ("Thank you. Is that ok? Call me first.", "that ok", {"question"}),
        ("thank you. is that ok? call me first.", "call me first", set()),
        ("Maybe. Call me first. I guess so.", "Call me first", set()),
        ("# What if we win?\nCall me first", "Call me first", set()),
        ("- maybe tea\n- call me first\n- coffee?", "call me first", set()),
        ("If we signed at 4 %,\nwe pay less.", "we pay less", {"hypothetical"}),
        ("Dr. Rossi signed at 4.5 %, e.g. in Rome, is that ok?", "Rossi signed", {"question"}),
        ("Maybe J. Smith and Mr. Hill signed at Acme Inc. yesterday.", "Hill signed", {"hedged"}),
        ("好的。可以吗？先给我打电话。", "先给我打电话", set()),
        ("The deployment is not allowed.", "allowed", {"denied"}),
        ("The deployment is not allowed.", "not allowed", set()),
        ("I do not like tea.", "tea", {"denied"}),
        ("Not only tea is fine.", "tea", set()),
        ("Don't forget the milk.", "the milk", set()),
    ],
)  # fmt: skip
def test_only_the_sentence_of_the_words_counts(text: str, words: str, flags: set[str]) -> None:
    assert meant(text, words) == flags


def test_a_span_over_several_sentences_takes_the_flags_of_each() -> None:
    assert meant("Is that ok? Maybe it is. Call me first.") == {"question", "hedged"}


@pytest.mark.parametrize(
    "text",
    [
        "I live in Rome",
        "my rate is 4 %",
        "Call me first",
        "it is mine",
        "I'm here",
        "Ich wohne hier",
        "我住在罗马",
        "私はローマ",
    ],
)
def test_the_first_person_is_seen(text: str) -> None:
    assert stance_of(text, 0, len(text)).first_person


@pytest.mark.parametrize(
    "text",
    [
        "We live in Rome",
        "our rate is 4 %",
        "I/O is slow",
        "i.e. a lot",
        "Mia lives",
        "the item",
        "我们住在罗马",
        "Meme",
    ],
)
def test_we_and_letters_are_no_first_person(text: str) -> None:
    assert not stance_of(text, 0, len(text)).first_person


def test_the_reason_is_readable_and_absent_for_a_plain_statement() -> None:
    assert Stance().waits_for is None
    assert Stance(first_person=True).waits_for is None
    assert Stance(question=True, hedged=True).waits_for == "the words are a question"
    assert all(Stance(**{flag: True}).waits_for for flag in FLAGS)


@pytest.mark.parametrize(
    "unit", ["a", '"', "if ", "\n", "'", "a.", "> ", "?", "。", "not ", "I said ", "‘", "1. ", "might "]
)
def test_ten_million_characters_without_an_end_cost_a_window(unit: str) -> None:
    text = unit * (10_000_000 // len(unit))
    first, last = sentence_at(text, 5_000_000, 5_000_010)
    assert last - first <= 2 * WINDOW + 10
    stance_of(text, 5_000_000, 5_000_010)
    stance_of(text, 0, len(text))


def test_both_ends_of_a_very_long_span_are_judged() -> None:
    body = "Plain words. " * LONG
    assert meant("Maybe so. " + body + "Is it?") == {"question", "hedged"}


MARKS = st.text(alphabet=st.sampled_from(list("aI .?!\n\"'“”„«»「」>-#1。吗 if…")), max_size=60)


@thorough
@given(MARKS | st.text(max_size=60), st.integers(-5, 70), st.integers(-5, 70))
def test_the_sentence_holds_the_span_whatever_the_text(text: str, start: int, end: int) -> None:
    first, last = sentence_at(text, start, end)
    assert 0 <= first <= last <= len(text)
    if 0 <= start < end <= len(text) and text[start:end].strip():
        bare = text[start:end]
        assert first <= start + len(bare) - len(bare.lstrip())
        assert start + len(bare.rstrip()) <= last
    stance_of(text, start, end)


@thorough
@given(MARKS)
def test_sentences_are_in_order_apart_and_leave_out_only_white_space(text: str) -> None:
    found = list(sentences(text))
    outside, place = "", 0
    for first, last in found:
        assert place <= first < last
        outside, place = outside + text[place:first], last
    assert not (outside + text[place:]).strip()
