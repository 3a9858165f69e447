"""What a text costs is estimated, and never below what it costs in a script without spaces."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muniment.recall.tokens import estimate_tokens

TEXTS = st.text(st.sampled_from("ab .电话先にテスト전화โทร\U0001f469\U00020000é"), max_size=40)


@pytest.mark.parametrize(
    "text",
    [
        "请在续约前先打电话",
        "电话",
        "先に電話してください",
        "テストデータ",
        "먼저전화해주세요",
        "โทรก่อน",
        "\U00020000\U0002a6d6",
        "\U0001f469\U0001f467",
        "你好，世界。",
        "「先打电话」：摘要、合同、价格",
        "佐々木さん",
        "二〇二七年",
    ],
)
def test_a_text_without_spaces_costs_at_least_a_token_a_character(text: str) -> None:
    assert estimate_tokens(text * 10) >= len(text * 10)


@pytest.mark.parametrize(
    ("text", "least", "most"), [("", 0, 0), ("a", 1, 1), ("call me first, please. " * 40, 200, 300)]
)
def test_english_costs_about_a_token_for_four_characters(text: str, least: int, most: int) -> None:
    assert least <= estimate_tokens(text) <= most


@settings(max_examples=200, deadline=None)
@given(TEXTS, TEXTS)
def test_a_longer_text_costs_no_less_and_two_texts_no_more_than_each_alone(a: str, b: str) -> None:
    assert max(estimate_tokens(a), estimate_tokens(b)) <= estimate_tokens(a + b)
    assert estimate_tokens(a + b) <= estimate_tokens(a) + estimate_tokens(b)
