-- :name insert_access_rule
INSERT INTO canonical.access_rule (tenant_id, access_id, alternative, labels)
VALUES (current_setting('muniment.tenant'), %(access_id)s, %(alternative)s, %(labels)s) ON CONFLICT DO NOTHING

-- :name access_rules
SELECT access_id, labels FROM canonical.access_rule WHERE access_id = ANY (%(ids)s)

-- :name insert_activity
INSERT INTO canonical.activity (tenant_id, activity_id, kind, actor, software, used, started_at)
VALUES (current_setting('muniment.tenant'), %(activity_id)s, %(kind)s, %(actor)s, %(software)s, %(used)s, %(at)s)

-- :name insert_evidence
INSERT INTO canonical.evidence (tenant_id, evidence_id, kind, source, source_id, source_version, thread_id, author_id,
    role, trust, content, media_type, uri, content_sha256, occurred_at, utc_offset, observed_at, access_id, metadata,
    replaces, activity_id)
VALUES (current_setting('muniment.tenant'), %(evidence_id)s, %(kind)s, %(source)s, %(source_id)s, %(source_version)s,
    %(thread)s, %(author)s, %(role)s, %(trust)s, %(content)s, %(media_type)s, %(uri)s, %(content_sha256)s,
    %(occurred_at)s, %(utc_offset)s, %(observed_at)s, %(access_id)s, %(metadata)s, %(replaces)s, %(activity_id)s)
ON CONFLICT (tenant_id, source, source_id, source_version) DO NOTHING

-- :name evidence_by_key
SELECT e.source, e.source_id, e.source_version, e.evidence_id, e.content_sha256, e.access_id, e.recorded_at
FROM unnest(%(sources)s::text[], %(source_ids)s::text[], %(versions)s::integer[]) AS k (source, source_id, version)
JOIN canonical.evidence e ON e.source = k.source AND e.source_id = k.source_id AND e.source_version = k.version

-- :name evidence_by_id
SELECT e.evidence_id, e.source, e.source_id, e.source_version, e.kind, e.content, e.author_id AS author, e.role,
       e.thread_id AS thread, e.trust, e.uri, e.media_type, e.metadata, e.occurred_at, e.utc_offset, e.observed_at,
       e.recorded_at, encode(e.content_sha256, 'hex') AS content_sha256, e.replaces,
       canonical.scope_of(e.access_id) AS authorization_scope
FROM canonical.evidence e WHERE e.evidence_id = ANY (%(ids)s)

-- :name insert_withdrawal -- with the rule of the evidence; nothing when it was withdrawn before
INSERT INTO canonical.withdrawal (tenant_id, evidence_id, reason, known, access_id, activity_id)
SELECT current_setting('muniment.tenant'), %(evidence_id)s, %(reason)s, tstzrange(%(at)s, NULL), e.access_id, %(activity_id)s
FROM canonical.evidence e WHERE e.evidence_id = %(evidence_id)s
ON CONFLICT DO NOTHING RETURNING true

-- :name close_supports
SELECT canonical.close_supports(%(evidence_id)s, %(at)s)

-- :name supported_by
SELECT DISTINCT s.claim_id FROM canonical.claim_evidence s
WHERE s.evidence_id = %(evidence_id)s AND s.stance = 'supports' AND upper_inf(s.known)

-- :name evidence_after -- a page of evidence, in order, for rebuilds and the full drift comparison
SELECT e.evidence_id, e.source_version AS version, e.kind, e.author_id AS author, e.content, e.occurred_at, e.observed_at,
       e.access_id
FROM canonical.evidence e
WHERE (%(after)s::uuid IS NULL OR e.evidence_id > %(after)s) ORDER BY e.evidence_id LIMIT %(most)s

-- :name open_policies
SELECT definition, version FROM canonical.policy WHERE upper_inf(known) ORDER BY predicate

-- :name insert_policy
INSERT INTO canonical.policy (tenant_id, predicate, version, definition, known, activity_id)
SELECT current_setting('muniment.tenant'), %(predicate)s, coalesce(max(version), 0) + 1, %(definition)s,
       tstzrange(%(at)s, NULL), %(activity_id)s
FROM canonical.policy WHERE predicate = %(predicate)s
RETURNING version

-- :name close_policy
SELECT canonical.close_policy(%(predicate)s, %(at)s)

-- :name insert_review
INSERT INTO canonical.review (tenant_id, review_id, claim_id, rivals, reason, access_id, activity_id)
VALUES (current_setting('muniment.tenant'), %(review_id)s, %(claim_id)s, %(rivals)s, %(reason)s, %(access_id)s,
        %(activity_id)s)

-- :name reviews -- under the reader's own access; a review is visible to who may see all that it is about
SELECT r.review_id, r.claim_id, r.rivals, r.reason, r.recorded_at AS opened_at, d.verdict, d.decided_by,
       d.reason AS decision_reason
FROM canonical.review r LEFT JOIN canonical.review_decision d ON d.tenant_id = r.tenant_id AND d.review_id = r.review_id
WHERE (%(review_id)s::uuid IS NULL OR r.review_id = %(review_id)s)
  AND (%(decided)s::boolean IS NULL OR %(decided)s = (d.review_id IS NOT NULL))
  AND (%(after)s::uuid IS NULL OR r.review_id > %(after)s)
  AND r.access_id = ANY (NULLIF(current_setting('muniment.visible'), '')::bigint[])
ORDER BY r.review_id LIMIT %(most)s

-- :name insert_review_decision -- with the rule of the review
INSERT INTO canonical.review_decision (tenant_id, review_id, verdict, decided_by, reason, access_id, activity_id)
SELECT r.tenant_id, r.review_id, %(verdict)s, %(by)s, %(reason)s, r.access_id, %(activity_id)s
FROM canonical.review r WHERE r.review_id = %(review_id)s

-- :name share_tenant -- decisions within one subject share the tenant
SELECT pg_advisory_xact_lock_shared(hashtextextended('decide' || chr(31) || current_setting('muniment.tenant'), 0))

-- :name lock_tenant -- a decision that reaches several subjects has the tenant alone
SELECT pg_advisory_xact_lock(hashtextextended('decide' || chr(31) || current_setting('muniment.tenant'), 0))

-- :name lock_subject -- one writer a subject at a time: rivals are compared, not raced
SELECT pg_advisory_xact_lock(hashtextextended(current_setting('muniment.tenant') || chr(31) || %(subject)s, 0))

-- :name visible_evidence
SELECT evidence_id FROM canonical.evidence
WHERE evidence_id = ANY (%(ids)s) AND access_id = ANY (NULLIF(current_setting('muniment.visible'), '')::bigint[])

-- :name cited -- what a claim needs to know of the places that it cites, with the rule that guards them
SELECT c.* FROM unnest(%(ids)s::uuid[], %(starts)s::integer[], %(stops)s::integer[]) AS p (id, start, stop)
CROSS JOIN LATERAL canonical.cited(p.id, p.start, p.stop) c

-- :name cited_by_claims -- the same of the places that some claims cite already
SELECT s.claim_id, c.*
FROM canonical.claim_evidence s
CROSS JOIN LATERAL canonical.cited(s.evidence_id, lower(s.span), CASE WHEN s.quoted THEN upper(s.span) END) c
WHERE s.claim_id = ANY (%(ids)s) AND s.stance = 'supports' AND upper_inf(s.known)

-- :name cited_by_candidates -- the same of the places that the candidates of some slots cite already
SELECT s.claim_id, c.*
FROM (SELECT * FROM canonical.claim_version
      WHERE slot = ANY (%(slots)s) AND upper_inf(known) AND status = 'candidate' OFFSET 0) v
CROSS JOIN LATERAL (
    SELECT * FROM canonical.claim_evidence
    WHERE tenant_id = v.tenant_id AND claim_id = v.claim_id AND stance = 'supports' AND upper_inf(known) OFFSET 0) s
CROSS JOIN LATERAL canonical.cited(s.evidence_id, lower(s.span), CASE WHEN s.quoted THEN upper(s.span) END) c
