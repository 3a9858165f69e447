-- What a changed policy decides anew: the slot and the cardinality of a claim belong to its versions.

-- NULL in versions written before this column was: the claim's own.
ALTER TABLE canonical.claim_version ADD COLUMN cardinality text CHECK (cardinality IN ('one', 'many'));
-- Whether somebody named the other claim, rather than the timeline having found it. Of older links nobody knows: they
-- keep the force that they had.
ALTER TABLE canonical.claim_link ADD COLUMN named boolean NOT NULL DEFAULT true;
ALTER TABLE canonical.claim_link ALTER COLUMN named SET DEFAULT false;

-- Evidence that no longer counts: its sender took it back, or it turned out to be forged. The words stay readable.
CREATE TABLE canonical.withdrawal (
    tenant_id   text        NOT NULL,
    evidence_id uuid        NOT NULL,
    reason      text        NOT NULL,
    known       tstzrange   NOT NULL CHECK (NOT isempty(known) AND lower_inc(known) AND NOT upper_inc(known)),
    access_id   bigint      NOT NULL,
    activity_id uuid        NOT NULL,
    recorded_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant_id, evidence_id),
    FOREIGN KEY (tenant_id, evidence_id) REFERENCES canonical.evidence,
    FOREIGN KEY (tenant_id, activity_id) REFERENCES canonical.activity
);
