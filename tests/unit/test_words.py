"""Phrases of scripts without spaces are found in the lexical index, whatever stands around them."""

from __future__ import annotations

import itertools
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muniment.derive.words import index_text

SCRIPTS = {
    "Han": "续约先打电话",
    "rare Han": "\U00020000\U0002a6d6\U00030000",
    "Hiragana": "さきにでんわ",
    "Katakana": "テストメモリー",
    "Hangul": "가먼저전화힣",
    "Thai": "โทรก่อนนะ",
    "Lao": "ໂທກ່ອນ",
    "Khmer": "កហៅមុន",
    "Burmese": "အရင်ခေါ်",
    "Han with an iteration mark": "佐々木さん",
    "Han with a zero": "二〇二七年",
}


def tokens(text: str) -> set[str]:
    return set(index_text(text).split())


@pytest.mark.parametrize("text", SCRIPTS.values(), ids=SCRIPTS)
def test_every_character_and_every_pair_can_be_found(text: str) -> None:
    assert tokens(text) >= {*text, *(a + b for a, b in itertools.pairwise(text))}


@pytest.mark.parametrize("text", [*SCRIPTS.values(), "ﾒﾓﾘ管理"], ids=[*SCRIPTS, "narrow Katakana"])
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_a_phrase_is_found_wherever_it_stands(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    phrase = text[start : data.draw(st.integers(start + 1, len(text)))]
    before, after = data.draw(st.tuples(*[st.sampled_from(["", "memo", "2027", ".", "，", "年", " "])] * 2))
    assert tokens(phrase) <= tokens(before + text + after)


def test_a_longer_phrase_is_not_found_where_only_its_characters_stand() -> None:
    assert not tokens("电话") <= tokens("电气谈话")


@pytest.mark.parametrize(
    "text",
    ["", " ", "call me first", "l'été", "позвоните сначала", "a-b.c_d 260", "שלום"],
)
def test_text_of_other_scripts_stays_as_it_is(text: str) -> None:
    assert index_text(text) == text


def test_words_of_other_scripts_keep_their_place_between() -> None:
    assert index_text("用muniment记录").split() == ["用", "muniment", "记", "录", "记录"]


@pytest.mark.parametrize("text", ["먼저전화", "テストデータ"])
def test_decomposed_text_is_found_by_composed_words(text: str) -> None:
    """Names of files and what is copied from them come decomposed on some systems."""
    assert tokens(text) <= tokens(unicodedata.normalize("NFD", text))
