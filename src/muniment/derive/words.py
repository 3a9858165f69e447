"""Text for the lexical index, in compatibility composition (NFKC): narrow, wide and decomposed letters are one. Scripts
written without spaces become single characters and pairs, so that any phrase of them can be found; PostgreSQL stems
the rest."""

from __future__ import annotations

import re
import unicodedata

# Han, Hiragana, Katakana, Hangul, Thai, Lao, Khmer, Burmese.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003134f]+"
)


def index_text(text: str) -> str:
    """`text` with every run of an unspaced script written as its characters and adjacent pairs."""
    return _UNSPACED.sub(_pairs, unicodedata.normalize("NFKC", text))


def _pairs(match: re.Match[str]) -> str:
    run = match.group()
    pairs = (run[at : at + 2] for at in range(len(run) - 1))
    return " " + " ".join((*run, *pairs)) + " "
