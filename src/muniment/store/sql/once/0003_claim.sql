-- Claims, what was held about them and when, and how they bear on each other.

CREATE TABLE canonical.claim (
    tenant_id   text        NOT NULL,
    claim_id    uuid        NOT NULL,
    memory_type text        NOT NULL,
    subject_id  text        NOT NULL,
    predicate   text        NOT NULL,
    value       jsonb       NOT NULL,
    object_id   text,
    statement   text        NOT NULL,
    scope       text        NOT NULL,
    -- A hash of (subject, predicate, scope), and of the value too where the predicate holds many values.
    slot        uuid        NOT NULL,
    cardinality text        NOT NULL CHECK (cardinality IN ('one', 'many')),
    access_id   bigint      NOT NULL,
    activity_id uuid        NOT NULL,
    recorded_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant_id, claim_id),
    FOREIGN KEY (tenant_id, subject_id) REFERENCES canonical.subject,
    FOREIGN KEY (tenant_id, object_id) REFERENCES canonical.subject,
    FOREIGN KEY (tenant_id, activity_id) REFERENCES canonical.activity
);
CREATE INDEX claim_subject ON canonical.claim (tenant_id, subject_id, predicate);
CREATE INDEX claim_slot ON canonical.claim (tenant_id, slot);
CREATE INDEX claim_object ON canonical.claim (tenant_id, object_id) WHERE object_id IS NOT NULL;

-- asserted: when the claim says it holds; valid: what is left of that after later rivals and ended premises.
CREATE TABLE canonical.claim_version (
    tenant_id   text           NOT NULL,
    claim_id    uuid           NOT NULL,
    version     integer        NOT NULL CHECK (version >= 1),
    slot        uuid           NOT NULL,
    status      text           NOT NULL CHECK (status IN
        ('candidate', 'validated', 'unsupported', 'rejected', 'retracted')),
    asserted    tstzmultirange NOT NULL CHECK (NOT isempty(asserted)),
    valid       tstzmultirange NOT NULL CHECK (valid <@ asserted),
    known       tstzrange      NOT NULL CHECK (NOT isempty(known) AND lower_inc(known) AND NOT upper_inc(known)),
    confidence  real           CHECK (confidence BETWEEN 0 AND 1),
    access_id   bigint         NOT NULL,
    decided_by  uuid           NOT NULL,
    reason      text,
    recorded_at timestamptz    NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant_id, claim_id, version),
    CONSTRAINT claim_version_one_at_a_time EXCLUDE USING gist
        (tenant_id WITH =, claim_id WITH =, known WITH &&),
    CONSTRAINT claim_version_no_rival_truth EXCLUDE USING gist
        (tenant_id WITH =, slot WITH =, valid WITH &&, known WITH &&) WHERE (status = 'validated'),
    FOREIGN KEY (tenant_id, claim_id) REFERENCES canonical.claim,
    FOREIGN KEY (tenant_id, decided_by) REFERENCES canonical.activity
);
CREATE INDEX claim_version_open ON canonical.claim_version (tenant_id, slot) WHERE upper_inf(known);

CREATE TABLE canonical.claim_evidence (
    tenant_id   text      NOT NULL,
    claim_id    uuid      NOT NULL,
    evidence_id uuid      NOT NULL,
    span        int4range NOT NULL CHECK (NOT isempty(span) AND lower(span) >= 0),
    stance      text      NOT NULL CHECK (stance IN ('supports', 'contradicts')),
    quoted      boolean   NOT NULL,
    -- From when this support says it held: said again later, a claim takes over again from what came in between.
    asserted_from timestamptz,
    known       tstzrange NOT NULL CHECK (NOT isempty(known) AND lower_inc(known) AND NOT upper_inc(known)),
    access_id   bigint    NOT NULL,
    activity_id uuid      NOT NULL,
    recorded_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant_id, claim_id, evidence_id, span, stance),
    FOREIGN KEY (tenant_id, claim_id) REFERENCES canonical.claim,
    FOREIGN KEY (tenant_id, evidence_id) REFERENCES canonical.evidence,
    FOREIGN KEY (tenant_id, activity_id) REFERENCES canonical.activity
);
CREATE INDEX claim_evidence_by_evidence ON canonical.claim_evidence (tenant_id, evidence_id);

CREATE TABLE canonical.claim_link (
    tenant_id      text        NOT NULL,
    link_id        uuid        NOT NULL,
    kind           text        NOT NULL CHECK (kind IN
        ('supports', 'refines', 'supersedes', 'conflicts_with', 'derived_from')),
    from_claim     uuid        NOT NULL,
    to_claim       uuid        NOT NULL CHECK (to_claim <> from_claim),
    scope          text        NOT NULL,
    effective_from timestamptz,
    -- A correction says "it never was"; any other supersession says "it is no longer".
    correction     boolean     NOT NULL DEFAULT false,
    state          text        NOT NULL CHECK (state IN ('proposed', 'active', 'rejected')),
    known          tstzrange   NOT NULL CHECK (NOT isempty(known) AND lower_inc(known) AND NOT upper_inc(known)),
    evidence_id    uuid,
    span           int4range,
    access_id      bigint      NOT NULL,
    decided_by     uuid        NOT NULL,
    recorded_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant_id, link_id),
    FOREIGN KEY (tenant_id, from_claim) REFERENCES canonical.claim,
    FOREIGN KEY (tenant_id, to_claim) REFERENCES canonical.claim,
    FOREIGN KEY (tenant_id, evidence_id) REFERENCES canonical.evidence,
    FOREIGN KEY (tenant_id, decided_by) REFERENCES canonical.activity
);
CREATE INDEX claim_link_from ON canonical.claim_link (tenant_id, from_claim);
CREATE INDEX claim_link_to ON canonical.claim_link (tenant_id, to_claim);
