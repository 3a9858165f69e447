-- Immutable evidence, and the people, accounts and things that claims are about.

CREATE TABLE canonical.evidence (
    tenant_id      text        NOT NULL,
    evidence_id    uuid        NOT NULL,
    kind           text        NOT NULL CHECK (kind IN
        ('message', 'document', 'event', 'record', 'policy', 'signal', 'feedback', 'outcome')),
    source         text        NOT NULL,
    source_id      text        NOT NULL,
    source_version integer     NOT NULL CHECK (source_version >= 1),
    thread_id      text,
    author_id      text,
    role           text        NOT NULL,
    trust          text        NOT NULL CHECK (trust IN ('authoritative', 'first_party', 'third_party', 'model')),
    content        text        NOT NULL,
    media_type     text        NOT NULL,
    uri            text,
    content_sha256 bytea       NOT NULL CHECK (octet_length(content_sha256) = 32),
    occurred_at    timestamptz,
    utc_offset     smallint    CHECK (utc_offset BETWEEN -1440 AND 1440),
    observed_at    timestamptz NOT NULL,
    recorded_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    access_id      bigint      NOT NULL,
    metadata       jsonb       NOT NULL DEFAULT '{}',
    replaces       uuid,
    activity_id    uuid        NOT NULL,
    PRIMARY KEY (tenant_id, evidence_id),
    UNIQUE (tenant_id, source, source_id, source_version),
    FOREIGN KEY (tenant_id, replaces) REFERENCES canonical.evidence,
    FOREIGN KEY (tenant_id, activity_id) REFERENCES canonical.activity
);
CREATE INDEX evidence_thread ON canonical.evidence (tenant_id, thread_id, occurred_at);
CREATE INDEX evidence_replaces ON canonical.evidence (tenant_id, replaces) WHERE replaces IS NOT NULL;

-- A subject is a handle: it carries no words of its own, so it needs no labels. Names arrive as claims and identities.
CREATE TABLE canonical.subject (
    tenant_id   text        NOT NULL,
    subject_id  text        NOT NULL CHECK (subject_id <> ''),
    activity_id uuid        NOT NULL,
    recorded_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant_id, subject_id),
    FOREIGN KEY (tenant_id, activity_id) REFERENCES canonical.activity
);

CREATE TABLE canonical.identity (
    tenant_id   text        NOT NULL,
    identity_id uuid        NOT NULL,
    provider    text        NOT NULL,
    external_id text        NOT NULL,
    subject_id  text        NOT NULL,
    method      text        NOT NULL,
    confidence  real        CHECK (confidence BETWEEN 0 AND 1),
    evidence_id uuid,
    known       tstzrange   NOT NULL CHECK (NOT isempty(known) AND lower_inc(known) AND NOT upper_inc(known)),
    access_id   bigint      NOT NULL,
    activity_id uuid        NOT NULL,
    recorded_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant_id, identity_id),
    CONSTRAINT identity_one_subject EXCLUDE USING gist
        (tenant_id WITH =, provider WITH =, external_id WITH =, known WITH &&),
    FOREIGN KEY (tenant_id, subject_id) REFERENCES canonical.subject,
    FOREIGN KEY (tenant_id, evidence_id) REFERENCES canonical.evidence,
    FOREIGN KEY (tenant_id, activity_id) REFERENCES canonical.activity
);

-- A merge is believed for a while: closing `known` undoes it, and as-of reads see it only while it was believed.
CREATE TABLE canonical.subject_merge (
    tenant_id    text        NOT NULL,
    merge_id     uuid        NOT NULL,
    from_subject text        NOT NULL,
    into_subject text        NOT NULL CHECK (into_subject <> from_subject),
    method       text        NOT NULL,
    confidence   real        CHECK (confidence BETWEEN 0 AND 1),
    evidence_id  uuid,
    known        tstzrange   NOT NULL CHECK (NOT isempty(known) AND lower_inc(known) AND NOT upper_inc(known)),
    access_id    bigint      NOT NULL,
    activity_id  uuid        NOT NULL,
    recorded_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant_id, merge_id),
    CONSTRAINT subject_merged_once EXCLUDE USING gist (tenant_id WITH =, from_subject WITH =, known WITH &&),
    FOREIGN KEY (tenant_id, from_subject) REFERENCES canonical.subject,
    FOREIGN KEY (tenant_id, into_subject) REFERENCES canonical.subject,
    FOREIGN KEY (tenant_id, evidence_id) REFERENCES canonical.evidence,
    FOREIGN KEY (tenant_id, activity_id) REFERENCES canonical.activity
);
CREATE INDEX subject_merge_into ON canonical.subject_merge (tenant_id, into_subject);
