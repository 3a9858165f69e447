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


# Symbols are no words to the parser; named by their code, they are.
_SYMBOLS = re.compile("[\u2600-\u27bf\U0001f000-\U0001faff]")


def index_text(text: str) -> str:
    """`text` with each run of an unspaced script as its characters and adjacent pairs, and symbols as words."""
    text = _UNSPACED.sub(_pairs, unicodedata.normalize("NFKC", text))
    return _SYMBOLS.sub(lambda match: f" symbol{ord(match.group()):x} ", text)


def _pairs(match: re.Match[str]) -> str:
    run = match.group()
    pairs = (run[at : at + 2] for at in range(len(run) - 1))
    return " " + " ".join((*run, *pairs)) + " "
