-- Every row-level rule adds `tenant_id = …`, so to a planner without statistics (a table that has just grown) an index
-- that starts with the tenant looks as good as the primary key, and it walks all of a tenant's rows for one of them.
-- Secondary indexes therefore start with what they find; only keys and constraints start with the tenant.
DROP INDEX canonical.claim_slot;
DROP INDEX canonical.claim_subject;
CREATE INDEX claim_subject ON canonical.claim (subject_id, predicate, tenant_id);
DROP INDEX canonical.claim_object;
CREATE INDEX claim_object ON canonical.claim (object_id, tenant_id) WHERE object_id IS NOT NULL;
DROP INDEX canonical.claim_version_open;
CREATE INDEX claim_version_open ON canonical.claim_version (slot, tenant_id) WHERE upper_inf(known);
DROP INDEX canonical.claim_evidence_by_evidence;
-- claim_id too: a long document supports thousands of claims, a claim restated has thousands of supports.
CREATE INDEX claim_evidence_by_evidence ON canonical.claim_evidence (evidence_id, claim_id, tenant_id);
DROP INDEX canonical.claim_link_from;
CREATE INDEX claim_link_from ON canonical.claim_link (from_claim, tenant_id);
DROP INDEX canonical.claim_link_to;
CREATE INDEX claim_link_to ON canonical.claim_link (to_claim, tenant_id);
DROP INDEX canonical.evidence_thread;
CREATE INDEX evidence_thread ON canonical.evidence (thread_id, occurred_at, tenant_id) WHERE thread_id IS NOT NULL;
DROP INDEX canonical.evidence_replaces;
CREATE INDEX evidence_replaces ON canonical.evidence (replaces, tenant_id) WHERE replaces IS NOT NULL;
DROP INDEX canonical.review_claim;
CREATE INDEX review_claim ON canonical.review (claim_id, tenant_id);
DROP INDEX canonical.subject_merge_into;
CREATE INDEX subject_merge_into ON canonical.subject_merge (into_subject, tenant_id);
