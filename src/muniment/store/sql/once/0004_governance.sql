-- Rules, what waits for a person, and receipts of what was erased.

CREATE TABLE canonical.policy (
    tenant_id   text        NOT NULL,
    predicate   text        NOT NULL CHECK (predicate <> ''),
    version     integer     NOT NULL CHECK (version >= 1),
    definition  jsonb       NOT NULL,
    known       tstzrange   NOT NULL CHECK (NOT isempty(known) AND lower_inc(known) AND NOT upper_inc(known)),
    activity_id uuid        NOT NULL,
    recorded_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant_id, predicate, version),
    CONSTRAINT policy_one_at_a_time EXCLUDE USING gist (tenant_id WITH =, predicate WITH =, known WITH &&),
    FOREIGN KEY (tenant_id, activity_id) REFERENCES canonical.activity
);

-- A review is readable by those who may see everything it is about.
CREATE TABLE canonical.review (
    tenant_id   text        NOT NULL,
    review_id   uuid        NOT NULL,
    claim_id    uuid        NOT NULL,
    rivals      uuid[]      NOT NULL DEFAULT '{}',
    reason      text        NOT NULL,
    access_id   bigint      NOT NULL,
    activity_id uuid        NOT NULL,
    recorded_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant_id, review_id),
    FOREIGN KEY (tenant_id, claim_id) REFERENCES canonical.claim,
    FOREIGN KEY (tenant_id, activity_id) REFERENCES canonical.activity
);
CREATE INDEX review_claim ON canonical.review (tenant_id, claim_id);

CREATE TABLE canonical.review_decision (
    tenant_id   text        NOT NULL,
    review_id   uuid        NOT NULL,
    verdict     text        NOT NULL,
    decided_by  text        NOT NULL,
    reason      text        NOT NULL,
    access_id   bigint      NOT NULL,
    activity_id uuid        NOT NULL,
    recorded_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant_id, review_id),
    FOREIGN KEY (tenant_id, review_id) REFERENCES canonical.review,
    FOREIGN KEY (tenant_id, activity_id) REFERENCES canonical.activity
);

CREATE TABLE canonical.deletion (
    tenant_id     text        NOT NULL,
    deletion_id   uuid        NOT NULL,
    target        jsonb       NOT NULL,
    counts        jsonb       NOT NULL,
    hashes        jsonb       NOT NULL,
    reason        text        NOT NULL,
    activity_id   uuid        NOT NULL,
    previous_hash bytea,
    hash          bytea       NOT NULL,
    recorded_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant_id, deletion_id),
    FOREIGN KEY (tenant_id, activity_id) REFERENCES canonical.activity
);
