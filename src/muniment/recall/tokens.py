"""How many tokens a text costs, without a tokenizer: an estimate that is honest for scripts without spaces."""

from __future__ import annotations

import re
from collections.abc import Callable

TokenCounter = Callable[[str], int]
_DENSE = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00010000-\U0010ffff]"
)


def estimate_tokens(text: str) -> int:
    """One token for each character of a dense script, one for every four others, rounded up."""
    dense = len(_DENSE.findall(text))
    return dense + -(-(len(text) - dense) // 4)
