"""Evidence first: every draft is stored, repeated, or refused with a reason, and one bad draft never loses another."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from muniment.canonical import access as access_rows
from muniment.canonical import activity, evidence, extractions
from muniment.canonical.access import register_tenant
from muniment.canonical.rows import Changes, EvidenceRow
from muniment.errors import AccessDenied, InvalidInput, InvalidTime, MunimentError, NotFound, VersionConflict
from muniment.model.access import AccessRule
from muniment.model.evidence import Evidence, EvidenceDraft
from muniment.model.ids import new_id, parse_id
from muniment.model.text import MAX_SOURCE_ID_BYTES, require_json, require_name, require_text
from muniment.promote.ports import Desk
from muniment.store.answer import Row
from muniment.store.database import Tx

Key = tuple[str, str, int]
_UNSET = datetime.max.replace(tzinfo=UTC)
MAX_METADATA_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class _Checked:
    """A draft that can be stored: its key, its hash and its rule."""

    draft: EvidenceDraft
    key: Key
    sha256: bytes
    rule: AccessRule
    replaces: UUID | None
    evidence_id: UUID

    def row(self) -> EvidenceRow:
        """What derivations read. The observation time is set in the transaction, by the server's clock."""
        draft = self.draft
        return EvidenceRow(
            self.evidence_id, draft.source_version, draft.kind.value, draft.author, draft.content, draft.occurred_at,
            draft.observed_at or _UNSET, self.rule.access_id,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Preserved:
    """What became of one draft: stored anew, already there, or refused. `given` is what the caller gave, as it would
    read if it had just been stored."""

    evidence_id: UUID | None
    stored: bool
    error: MunimentError | None = None
    given: Evidence | None = None


def preserve(desk: Desk, drafts: Sequence[EvidenceDraft], *, reader: str | None = None) -> list[Preserved]:
    """Stores the drafts in one transaction; the answers come in the order of the drafts.
    What is new waits to be read by the extractor called `reader`, from that moment on.

    Each refusal is a coded error in its own place: it is returned, not raised. Raises only what concerns all of them
    (`EngineUnavailable`, `EmbedderFailed`), and then none is stored.
    """
    outcomes: list[Preserved | None] = [None] * len(drafts)
    checked: dict[int, _Checked] = {}
    for place, draft in enumerate(drafts):
        try:
            checked[place] = _check(desk, draft)
        except MunimentError as error:
            outcomes[place] = Preserved(None, False, error)
    unique = list({item.key: item for item in reversed(checked.values())}.values())
    written = _write(desk, unique, reader)
    for place, item in checked.items():
        outcomes[place] = _outcome(item, written)
    return [outcome for outcome in outcomes if outcome is not None]


@dataclass(slots=True)
class _Written:
    """What stands under each key, what was refused, and the server's time of it."""

    standing: dict[Key, Row]
    refused: dict[Key, MunimentError]
    now: datetime


def _write(desk: Desk, items: Sequence[_Checked], reader: str | None) -> _Written:
    """Stores what is not there yet. What is there already is spared the embedder; the insert decides for good."""
    with desk.database.transaction(desk.access, reach="tenant") as tx:
        asked_now, asked_standing = activity.server_now(tx), evidence.find_keys(tx, [item.key for item in items])
        written = _Written(asked_standing.get(), {}, asked_now.get())
    new = [item for item in items if item.key not in written.standing]
    if new:
        prepared = desk.follower.prepare(evidence=[item.row() for item in new])
        with desk.database.transaction(desk.access, reach="tenant") as tx:
            _insert(tx, desk, new, prepared, written, reader)
    return written


def _check(desk: Desk, draft: EvidenceDraft) -> _Checked:
    content = require_text(draft.content, what="the content")
    sha256 = hashlib.sha256(content.encode("utf-8")).digest()
    rule = desk.access.rule_for(draft.access)
    source_id = draft.source_id if draft.source_id is not None else _default_id(draft, sha256, rule)
    require_name(draft.source, what="source")
    require_name(source_id, what="source_id", max_bytes=MAX_SOURCE_ID_BYTES)
    require_name(draft.role, what="role")
    for what in ("author", "thread", "uri", "media_type"):
        if (value := getattr(draft, what)) is not None:
            require_name(value, what=what, max_bytes=MAX_SOURCE_ID_BYTES)
    if not 1 <= draft.source_version <= 2**31 - 1:
        raise InvalidInput("source_version counts from 1")
    if draft.observed_at is not None and not desk.access.may_import:
        raise AccessDenied(
            "only a session with the grant 'muniment:import' may say when something was observed; leave observed_at out"
        )
    require_json(dict(draft.metadata), what="metadata", max_bytes=MAX_METADATA_BYTES)
    replaces = None if draft.replaces is None else parse_id(draft.replaces, what="evidence to replace")
    return _Checked(
        draft,
        (draft.source, source_id, draft.source_version),
        sha256,
        rule,
        replaces,
        new_id(),
    )


def _default_id(draft: EvidenceDraft, sha256: bytes, rule: AccessRule) -> str:
    """The hash of the content, and of who said it where, when and to whom, as far as that was given: the same "yes" of
    two people is two statements, and a repeated call is one."""
    occurred_at = None if draft.occurred_at is None else draft.occurred_at.astimezone(UTC).isoformat()
    setting = [draft.author, draft.thread, occurred_at, rule.describe()]
    if not any(setting):
        return "sha256:" + sha256.hex()
    return "sha256:" + hashlib.sha256(sha256 + json.dumps(setting).encode()).hexdigest()


def _insert(
    tx: Tx, desk: Desk, items: Sequence[_Checked], prepared: object, written: _Written, reader: str | None
) -> None:
    asked_now = activity.server_now(tx)
    asked_visible = evidence.visible_ids(tx, [item.replaces for item in items if item.replaces is not None])
    now = written.now = asked_now.get()
    written.refused = _refusals(items, now, asked_visible.get())
    accepted = [item for item in items if item.key not in written.refused]
    if not accepted:
        return
    asked_first = register_tenant(tx)
    for rule in {item.rule for item in accepted}:
        access_rows.intern(tx, rule)
    activity_id = activity.record(tx, "preserve", actor=desk.access.actor, at=now, used={"items": len(accepted)})
    evidence.insert_all(tx, [_columns(item, now, activity_id) for item in accepted])
    # Another writer may have been faster with the same key: only rows that are ours are followed.
    standing = evidence.find_keys(tx, [item.key for item in accepted]).get()
    ours = [item for item in accepted if standing[item.key]["evidence_id"] == item.evidence_id]
    rows = [replace(item.row(), observed_at=item.draft.observed_at or now) for item in ours]
    if reader is not None:
        extractions.insert_pending(tx, {item.evidence_id: item.rule.access_id for item in ours}, reader, activity_id)
    desk.follower.follow(tx, Changes(evidence=rows, new_tenant=asked_first.get()), prepared)
    written.standing |= standing


def _refusals(items: Sequence[_Checked], now: datetime, visible: set[UUID]) -> dict[Key, MunimentError]:
    refused: dict[Key, MunimentError] = {}
    for item in items:
        observed_at = item.draft.observed_at
        if observed_at is not None and observed_at > now:
            refused[item.key] = InvalidTime(
                f"observed_at {observed_at.isoformat()} lies in the future of the database clock"
            )
        elif item.replaces is not None and item.replaces not in visible:
            refused[item.key] = NotFound("no evidence to replace with this id that this session may see")
    return refused


def _columns(item: _Checked, now: datetime, activity_id: UUID) -> dict[str, Any]:
    draft = item.draft
    offset = draft.occurred_at.utcoffset() if draft.occurred_at is not None else None
    return {
        "evidence_id": item.evidence_id,
        "kind": draft.kind.value,
        "source": item.key[0],
        "source_id": item.key[1],
        "source_version": item.key[2],
        "thread": draft.thread,
        "author": draft.author,
        "role": draft.role,
        "trust": draft.trust.value,
        "content": draft.content,
        "media_type": draft.media_type,
        "uri": draft.uri,
        "content_sha256": item.sha256,
        "occurred_at": draft.occurred_at,
        "utc_offset": None if offset is None else int(offset.total_seconds() / 60),
        "observed_at": draft.observed_at or now,
        "access_id": item.rule.access_id,
        "metadata": Jsonb(dict(draft.metadata)),
        "replaces": item.replaces,
        "activity_id": activity_id,
    }


def _outcome(item: _Checked, written: _Written) -> Preserved:
    standing = written.standing.get(item.key)
    if standing is None:
        return Preserved(None, False, written.refused[item.key])
    if standing["content_sha256"] != item.sha256:
        source, source_id, version = item.key
        return Preserved(None, False, VersionConflict(
            f"other content is stored as {source}:{source_id[:80]} version {version}; a correction is a new version: "
            f"add it with source_version={version + 1}"
        ))  # fmt: skip
    if standing["access_id"] != item.rule.access_id:
        return Preserved(None, False, VersionConflict(
            "the same content is stored with other access labels; add it again with the labels it has"
        ))  # fmt: skip
    stored = standing["evidence_id"] == item.evidence_id
    recorded_at = standing["recorded_at"] if stored else written.now
    return Preserved(
        standing["evidence_id"], stored, given=_as_given(item, standing["evidence_id"], written.now, recorded_at)
    )


def _as_given(item: _Checked, evidence_id: UUID, now: datetime, recorded_at: datetime) -> Evidence:
    columns = _columns(item, now, evidence_id)
    return Evidence(
        **{name: columns[name] for name in _GIVEN},
        evidence_id=str(evidence_id),
        occurred_at=item.draft.occurred_at,
        content_sha256=item.sha256.hex(),
        metadata=item.draft.metadata,
        recorded_at=recorded_at,
        replaces=item.draft.replaces,
        authorization_scope=item.rule.describe(),
    )


_GIVEN = (
    "source", "source_id", "source_version", "kind", "content", "author", "role", "thread", "trust", "uri",
    "media_type", "utc_offset", "observed_at",
)  # fmt: skip


def read_back(desk: Desk, outcome: Preserved) -> Evidence:
    """The evidence that a draft became. A writer that may not see what stands there gets back what it gave and no
    more: somebody else may have stored the same words with things beside them."""
    assert outcome.evidence_id is not None
    assert outcome.given is not None
    if outcome.stored:
        return outcome.given
    with desk.database.transaction(desk.access) as tx:
        return evidence.load(tx, [outcome.evidence_id]).get(outcome.evidence_id, outcome.given)
