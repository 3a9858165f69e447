-- What a changed policy decides anew: the slot and the cardinality of a claim belong to its versions.

-- NULL in versions written before this column was: the claim's own.
ALTER TABLE canonical.claim_version ADD COLUMN cardinality text CHECK (cardinality IN ('one', 'many'));
-- Whether somebody named the other claim, rather than the timeline having found it. Of older links nobody knows: they
-- keep the force that they had.
ALTER TABLE canonical.claim_link ADD COLUMN named boolean NOT NULL DEFAULT true;
ALTER TABLE canonical.claim_link ALTER COLUMN named SET DEFAULT false;
