-- Names are shared by several people; every other identifier belongs to one subject at a time.
ALTER TABLE canonical.identity DROP CONSTRAINT identity_one_subject;
ALTER TABLE canonical.identity ADD CONSTRAINT identity_one_subject EXCLUDE USING gist
    (tenant_id WITH =, provider WITH =, external_id WITH =, known WITH &&) WHERE (provider <> 'name');
ALTER TABLE canonical.identity ADD CONSTRAINT identity_one_name EXCLUDE USING gist
    (tenant_id WITH =, subject_id WITH =, external_id WITH =, known WITH &&) WHERE (provider = 'name');
-- Names are looked up as people write them.
CREATE INDEX identity_external ON canonical.identity (lower(external_id), provider, tenant_id);
CREATE INDEX identity_subject ON canonical.identity (subject_id, tenant_id);
-- A merge is an edge between the two subjects of which it was said; what is one follows from all of them, so that taking
-- one back leaves what the others say.
ALTER TABLE canonical.subject_merge DROP CONSTRAINT subject_merged_once;
ALTER TABLE canonical.subject_merge ADD CONSTRAINT subject_merged_once EXCLUDE USING gist
    (tenant_id WITH =, (least(from_subject, into_subject)) WITH =, (greatest(from_subject, into_subject)) WITH =,
     known WITH &&);
CREATE INDEX subject_merge_from ON canonical.subject_merge (from_subject, tenant_id);

-- A review may ask whether two subjects are one: then it has no claim.
ALTER TABLE canonical.review ALTER COLUMN claim_id DROP NOT NULL;
ALTER TABLE canonical.review ADD COLUMN kind text NOT NULL DEFAULT 'claim' CHECK (kind IN ('claim', 'conflict', 'merge'));
ALTER TABLE canonical.review ADD COLUMN subjects text[] NOT NULL DEFAULT '{}';
CREATE INDEX review_subjects ON canonical.review USING gin (subjects) WHERE kind = 'merge';
ALTER TABLE canonical.review ADD CHECK ((claim_id IS NULL) = (kind = 'merge'));

-- A decision can be undone: a review has one row a turn, and is open again after an 'undo'.
ALTER TABLE canonical.review_decision ADD COLUMN turn integer NOT NULL DEFAULT 1 CHECK (turn >= 1);
-- Ids of what the decision made, for whoever undoes it: {"claim": …, "merge": …, "evidence": […]}.
ALTER TABLE canonical.review_decision ADD COLUMN effects jsonb NOT NULL DEFAULT '{}';
ALTER TABLE canonical.review_decision DROP CONSTRAINT review_decision_pkey;
ALTER TABLE canonical.review_decision ADD PRIMARY KEY (tenant_id, review_id, turn);
