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

-- :name feedback_count -- feedback on one draft counts once, however often it comes
SELECT count(DISTINCT coalesce(e.metadata ->> 'about', e.evidence_id::text)) AS said
FROM canonical.claim_evidence s CROSS JOIN LATERAL (
    SELECT * FROM canonical.evidence WHERE tenant_id = s.tenant_id AND evidence_id = s.evidence_id OFFSET 0) e
WHERE s.claim_id = %(claim_id)s AND s.stance = 'supports' AND upper_inf(s.known) AND e.kind = 'feedback'
  AND e.access_id = ANY (NULLIF(current_setting('muniment.visible'), '')::bigint[])

-- :name close_supports_of
SELECT canonical.close_supports_of(%(claim_id)s, %(evidence)s::uuid[], %(starts)s::integer[], %(stops)s::integer[], %(at)s)

-- :name supported_by
SELECT DISTINCT s.claim_id FROM canonical.claim_evidence s
WHERE s.evidence_id = %(evidence_id)s AND s.stance = 'supports' AND upper_inf(s.known)

-- :name evidence_after -- a page of evidence, in order, for rebuilds and the full drift comparison
SELECT e.evidence_id, e.source_version AS version, e.kind, e.author_id AS author, e.content, e.occurred_at, e.observed_at,
       e.access_id
FROM canonical.evidence e
WHERE (%(after)s::uuid IS NULL OR e.evidence_id > %(after)s) ORDER BY e.evidence_id LIMIT %(most)s

-- :name evidence_rows -- the same of some evidence
SELECT e.evidence_id, e.source_version AS version, e.kind, e.author_id AS author, e.content, e.occurred_at, e.observed_at,
       e.access_id
FROM canonical.evidence e WHERE e.evidence_id = ANY (%(ids)s)

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
INSERT INTO canonical.review (tenant_id, review_id, kind, claim_id, rivals, subjects, reason, access_id, activity_id)
VALUES (current_setting('muniment.tenant'), %(review_id)s, %(kind)s, %(claim_id)s, %(rivals)s, %(subjects)s, %(reason)s,
        %(access_id)s, %(activity_id)s)

-- :name reviews -- under the reader's own access; a review is visible to who may see all that it is about
SELECT r.review_id, r.kind, r.claim_id, r.rivals, r.subjects, r.access_id, r.reason, r.recorded_at AS opened_at, d.decisions,
       NULLIF(d.decisions -> -1 ->> 'verdict', 'undo') AS verdict, d.effects
FROM canonical.review r CROSS JOIN LATERAL (
    SELECT coalesce(jsonb_agg(jsonb_build_object('verdict', d.verdict, 'by', d.decided_by, 'reason', d.reason,
                                                 'at', d.recorded_at) ORDER BY d.turn), '[]') AS decisions,
           (array_agg(d.effects ORDER BY d.turn DESC))[1] AS effects
    FROM canonical.review_decision d WHERE d.tenant_id = r.tenant_id AND d.review_id = r.review_id) d
WHERE (%(review_id)s::uuid IS NULL OR r.review_id = %(review_id)s)
  AND (%(decided)s::boolean IS NULL OR %(decided)s = coalesce(d.decisions -> -1 ->> 'verdict' <> 'undo', false))
  AND (%(after)s::uuid IS NULL OR r.review_id > %(after)s)
  AND r.access_id = ANY (NULLIF(current_setting('muniment.visible'), '')::bigint[])
ORDER BY r.review_id LIMIT %(most)s

-- :name insert_review_decision -- with the rule of the review
INSERT INTO canonical.review_decision (tenant_id, review_id, turn, verdict, decided_by, reason, effects, access_id, activity_id)
SELECT r.tenant_id, r.review_id,
       1 + (SELECT count(*) FROM canonical.review_decision d WHERE d.tenant_id = r.tenant_id AND d.review_id = r.review_id),
       %(verdict)s, %(by)s, %(reason)s, %(effects)s, r.access_id, %(activity_id)s
FROM canonical.review r WHERE r.review_id = %(review_id)s

-- :name share_tenant -- decisions within one subject share the tenant
SELECT pg_advisory_xact_lock_shared(hashtextextended('decide' || chr(31) || current_setting('muniment.tenant'), 0))

-- :name lock_tenant -- a decision that reaches several subjects has the tenant alone
SELECT pg_advisory_xact_lock(hashtextextended('decide' || chr(31) || current_setting('muniment.tenant'), 0))

-- :name lock_subject -- one writer a subject at a time: rivals are compared, not raced; merged subjects share one lock
SELECT pg_advisory_xact_lock(hashtextextended(current_setting('muniment.tenant') || chr(31) || min(g.subject_id COLLATE "C"), 0)),
       array_agg(g.subject_id) AS members, array_agg(g.subject_id) FILTER (WHERE g.shared) AS shared
FROM canonical.group_of(%(subject)s, NULL) g

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

-- :name insert_subject
INSERT INTO canonical.subject (tenant_id, subject_id, activity_id)
VALUES (current_setting('muniment.tenant'), %(subject)s, %(activity_id)s) ON CONFLICT DO NOTHING

-- :name known_subjects
SELECT s.subject_id FROM canonical.subject s
WHERE s.subject_id = ANY (%(subjects)s) AND (%(known_at)s::timestamptz IS NULL OR s.recorded_at <= %(known_at)s OR EXISTS (
    SELECT FROM canonical.claim c JOIN canonical.claim_version v USING (tenant_id, claim_id)
    WHERE c.subject_id = s.subject_id AND lower(v.known) <= %(known_at)s))

-- :name insert_identity
INSERT INTO canonical.identity (tenant_id, identity_id, provider, external_id, subject_id, method, confidence, evidence_id,
                                known, access_id, activity_id)
VALUES (current_setting('muniment.tenant'), %(identity_id)s, %(provider)s, %(external_id)s, %(subject_id)s, %(method)s,
        %(confidence)s, %(evidence_id)s, tstzrange(%(at)s, NULL), %(access_id)s, %(activity_id)s)

-- :name identities_by_id -- who goes by an identifier (names as people write them); a provider of NULL asks all
SELECT i.identity_id, i.provider, i.external_id, i.subject_id, i.method, i.confidence, i.evidence_id,
       lower(i.known) AS known_from, i.access_id,
       i.access_id = ANY (NULLIF(current_setting('muniment.visible'), '')::bigint[]) AS visible
FROM canonical.identity i
WHERE lower(i.external_id) = lower(%(external_id)s) AND (%(provider)s::text IS NULL OR i.provider = %(provider)s)
  AND (i.provider = 'name' OR i.external_id = %(external_id)s OR i.provider = 'email')
  AND i.known @> coalesce(%(known_at)s::timestamptz, now())
ORDER BY i.subject_id, i.provider

-- :name identities_of_subject
SELECT i.identity_id, i.provider, i.external_id, i.subject_id, i.method, i.confidence, i.evidence_id,
       lower(i.known) AS known_from, true AS visible
FROM canonical.identity i
WHERE i.subject_id = ANY (ARRAY(SELECT g.subject_id FROM canonical.group_of(%(subject)s, %(known_at)s) g WHERE g.visible))
  AND i.access_id = ANY (NULLIF(current_setting('muniment.visible'), '')::bigint[])
  AND i.known @> coalesce(%(known_at)s::timestamptz, now())
ORDER BY i.provider, i.external_id, i.subject_id

-- :name close_identity
SELECT canonical.close_identity(%(identity_id)s, %(at)s)

-- :name group_of_subject
SELECT g.subject_id, g.shared FROM canonical.group_of(%(subject)s, %(known_at)s) g WHERE g.visible

-- :name insert_merge
INSERT INTO canonical.subject_merge (tenant_id, merge_id, from_subject, into_subject, method, confidence, evidence_id,
                                     known, access_id, activity_id)
VALUES (current_setting('muniment.tenant'), %(merge_id)s, %(from_subject)s, %(into_subject)s, %(method)s, %(confidence)s,
        %(evidence_id)s, tstzrange(%(at)s, NULL), %(access_id)s, %(activity_id)s)

-- :name merges_of -- the open merges that tie these subjects to each other
SELECT m.merge_id, m.from_subject, m.into_subject, m.method, m.confidence, m.evidence_id, lower(m.known) AS known_from,
       upper(m.known) AS known_to, m.access_id, a.actor AS merged_by,
       m.access_id = ANY (NULLIF(current_setting('muniment.visible'), '')::bigint[]) AS visible
FROM canonical.subject_merge m JOIN canonical.activity a ON a.tenant_id = m.tenant_id AND a.activity_id = m.activity_id
WHERE (m.from_subject = ANY (%(subjects)s) OR m.into_subject = ANY (%(subjects)s)) AND m.known @> coalesce(%(known_at)s::timestamptz, now())
ORDER BY m.merge_id

-- :name merge_by_id
SELECT m.merge_id, m.from_subject, m.into_subject, m.method, m.confidence, m.evidence_id, lower(m.known) AS known_from,
       upper(m.known) AS known_to, m.access_id, a.actor AS merged_by
FROM canonical.subject_merge m JOIN canonical.activity a ON a.tenant_id = m.tenant_id AND a.activity_id = m.activity_id
WHERE m.merge_id = %(merge_id)s AND m.access_id = ANY (NULLIF(current_setting('muniment.visible'), '')::bigint[])

-- :name close_merge
SELECT canonical.close_merge(%(merge_id)s, %(at)s)

-- :name reviews_of_subjects
SELECT 1 FROM canonical.review r
WHERE r.kind = 'merge' AND r.subjects @> %(subjects)s::text[] AND r.subjects <@ %(subjects)s::text[] LIMIT 1

-- :name open_reviews_of -- reviews, not decided yet, that weigh these claims or these subjects against each other
SELECT r.review_id, r.kind, r.claim_id, r.rivals, r.subjects FROM canonical.review r
WHERE (r.claim_id = ANY (%(claims)s) OR (r.kind = 'conflict' AND r.rivals && %(claims)s::uuid[])
       OR r.subjects && %(subjects)s::text[])
  AND coalesce((SELECT d.verdict = 'undo' FROM canonical.review_decision d
                WHERE d.tenant_id = r.tenant_id AND d.review_id = r.review_id ORDER BY d.turn DESC LIMIT 1), true)

-- :name open_merges
SELECT m.from_subject, m.into_subject FROM canonical.subject_merge m
WHERE m.known @> coalesce(%(known_at)s::timestamptz, now()) AND (NOT %(shared)s OR m.access_id = 0)
  AND m.access_id = ANY (NULLIF(current_setting('muniment.visible'), '')::bigint[])
