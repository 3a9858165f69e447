-- What became of reading claims out of an evidence: one row an attempt. A newer attempt ends the `known` of the one before.
--
-- 'pending' stands from the moment at which the evidence is stored to be read, in the same transaction: an evidence
-- whose reader was killed is found again. No column holds words of the evidence.

CREATE TABLE canonical.extraction (
    tenant_id     text        NOT NULL,
    extraction_id uuid        NOT NULL,
    evidence_id   uuid        NOT NULL,
    extractor     text        NOT NULL CHECK (extractor <> ''),
    attempt       integer     NOT NULL CHECK (attempt >= 0),
    state         text        NOT NULL CHECK (state IN ('pending', 'done', 'failed')),
    error         text        CHECK ((error IS NOT NULL) = (state = 'failed')),
    calls         integer     NOT NULL DEFAULT 0 CHECK (calls >= 0),
    input_tokens  bigint      NOT NULL DEFAULT 0 CHECK (input_tokens >= 0),
    output_tokens bigint      NOT NULL DEFAULT 0 CHECK (output_tokens >= 0),
    candidates    integer     NOT NULL DEFAULT 0 CHECK (candidates >= 0),
    refused       jsonb       NOT NULL DEFAULT '{}',
    known         tstzrange   NOT NULL CHECK (NOT isempty(known) AND lower_inc(known) AND NOT upper_inc(known)),
    access_id     bigint      NOT NULL,
    activity_id   uuid        NOT NULL,
    recorded_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant_id, extraction_id),
    FOREIGN KEY (tenant_id, evidence_id) REFERENCES canonical.evidence,
    FOREIGN KEY (tenant_id, activity_id) REFERENCES canonical.activity
);
CREATE INDEX extraction_evidence ON canonical.extraction (tenant_id, evidence_id, extractor);
CREATE UNIQUE INDEX extraction_latest ON canonical.extraction (tenant_id, evidence_id) WHERE upper_inf(known);
-- What `retry` reads: as long as what waits, whatever was done before.
CREATE INDEX extraction_waiting ON canonical.extraction (tenant_id, lower(known), evidence_id)
    WHERE upper_inf(known) AND state <> 'done';
