"""What went wrong with a model, in words that say its kind and never repeat what was read or answered."""

from __future__ import annotations

import json
import re

_REFUSES = re.compile(
    r"\b(i can(?:no|')?t|i cannot|i won't|i am unable|i'm unable|i'm sorry|i am sorry)\b", re.IGNORECASE
)
_THINKS = re.compile(r"<(think|thinking|reasoning|thought)>", re.IGNORECASE)


def unparsable(answer: str, *, cut_short: bool) -> str:
    """The kind of an answer that is not the JSON that was asked for."""
    text = answer.strip()
    if not text:
        return "the answer is empty"
    if cut_short:
        return "the answer was truncated at the limit of output tokens; raise max_output_tokens"
    if _THINKS.search(text):
        return "the answer has a reasoning block; switch reasoning off, or serve the model so that it is kept apart"
    if text[0] in "{[":
        return _wrong_json(text)
    if "{" in text:
        return "the answer has prose round its JSON"
    if _REFUSES.search(text):
        return "the model refused"
    return "the answer is prose, not JSON"


def _wrong_json(text: str) -> str:
    try:
        value = json.loads(text)
    except RecursionError:
        return "the answer is JSON nested too deeply"
    except ValueError as error:
        if isinstance(error, json.JSONDecodeError) and error.msg == "Extra data":
            return "the answer has prose round its JSON"
        return "the answer is truncated or broken JSON"
    if isinstance(value, dict) and ("$defs" in value or "properties" in value):
        return "the answer echoes the schema"
    return "the answer is JSON of another shape"
