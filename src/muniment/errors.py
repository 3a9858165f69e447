"""Every error that muniment raises on purpose: one class, one stable `code`, a message that says what to do next."""

from __future__ import annotations

from typing import ClassVar


class MunimentError(Exception):
    """Base of all coded errors. `code` is stable and safe to match on; the message is for people."""

    code: ClassVar[str] = "error"


class InvalidInput(MunimentError):
    """A value that cannot be stored: empty, too long, or of the wrong shape. Nothing was written."""

    code = "invalid_input"


class InvalidText(InvalidInput):
    """Text that PostgreSQL cannot hold unchanged (a NUL byte, a lone surrogate). Nothing was written."""

    code = "invalid_text"


class NaiveDatetime(InvalidInput):
    """A datetime without an offset. Its meaning would depend on the host, so it is refused."""

    code = "naive_datetime"


class InvalidTime(InvalidInput):
    """A time that may not be used here, such as an observation in the future of the database clock."""

    code = "invalid_time"


class BadScope(InvalidInput):
    """A scope that is not a clean path such as `renewal/2027`."""

    code = "bad_scope"


class BadFilter(InvalidInput):
    """An unknown filter field or operator, or a limit or cursor that no read produced."""

    code = "bad_filter"


class UnknownSpan(InvalidInput):
    """The quoted words, or the character range, are not in the evidence."""

    code = "unknown_span"


class NotFound(MunimentError):
    """Nothing with this id that the session may see. The same error for what does not exist and what is not yours."""

    code = "not_found"


class NoTenant(MunimentError):
    """A session needs a tenant; without one it could see nothing and store nothing."""

    code = "no_tenant"


class AccessDenied(MunimentError):
    """The session lacks a right that this call needs."""

    code = "access_denied"


class VersionConflict(MunimentError):
    """Other content, or other labels, are already stored under this (source, source_id, source_version)."""

    code = "version_conflict"


class ClaimMovedOn(MunimentError):
    """The claim is no longer in the state this call needs. Read it again, then decide."""

    code = "claim_moved_on"


class EvidenceWithdrawn(MunimentError):
    """The evidence was withdrawn: it stays readable, and supports nothing any more."""

    code = "evidence_withdrawn"


class PolicyUnmet(MunimentError):
    """The policy of the predicate asks for evidence that is not there, and a person's decision does not replace it."""

    code = "policy_unmet"


class RivalTruth(MunimentError):
    """Another validated claim holds the same slot at the same time. Both cannot be true; nothing was changed."""

    code = "rival_truth"


class CyclicPremises(MunimentError):
    """The premises lead back to the claim itself, so nothing could ever settle."""

    code = "cyclic_premises"


class UnreadableFile(MunimentError):
    """A file that no reader understands, or that cannot be opened."""

    code = "unreadable_file"


class EmbeddingDimension(MunimentError):
    """The embedder's dimension differs from the active recipe's."""

    code = "embedding_dimension"


class EmbedderFailed(MunimentError):
    """The embedder raised or returned something unusable; the write that needed it did not happen."""

    code = "embedder_failed"


class ExtractionFailed(MunimentError):
    """Claims could not be read out of an evidence. The evidence is stored, and can be tried again."""

    code = "extraction_failed"


class MissingExtra(MunimentError):
    """An optional part of the package is not installed; the message says how to install it."""

    code = "missing_extra"


class SchemaTooNew(MunimentError):
    """The database was migrated by a newer muniment."""

    code = "schema_too_new"


class SchemaMissing(MunimentError):
    """The database has no muniment schema, or an older one."""

    code = "schema_missing"


class UnsafeRole(MunimentError):
    """The application role could bypass row-level security."""

    code = "unsafe_role"


class EngineUnavailable(MunimentError):
    """PostgreSQL cannot be started or reached."""

    code = "engine_unavailable"
