-- :name held_in_slots -- from the few versions of a slot, not from every claim of the tenant
SELECT c.claim_id, v.version, c.memory_type, c.subject_id, c.predicate, c.value, c.object_id, c.statement, c.scope,
       v.slot, coalesce(v.cardinality, c.cardinality) AS cardinality, v.status, v.asserted, v.valid, lower(v.known) AS known_from, v.confidence, v.access_id,
       v.access_id = ANY (NULLIF(current_setting('muniment.visible'), '')::bigint[]) AS visible, v.reason
FROM (SELECT * FROM canonical.claim_version WHERE slot = ANY (%(slots)s) AND upper_inf(known) OFFSET 0) v
CROSS JOIN LATERAL (SELECT * FROM canonical.claim WHERE tenant_id = v.tenant_id AND claim_id = v.claim_id OFFSET 0) c

-- :name held_claims
SELECT c.claim_id, v.version, c.memory_type, c.subject_id, c.predicate, c.value, c.object_id, c.statement, c.scope,
       v.slot, coalesce(v.cardinality, c.cardinality) AS cardinality, v.status, v.asserted, v.valid, lower(v.known) AS known_from, v.confidence, v.access_id,
       v.access_id = ANY (NULLIF(current_setting('muniment.visible'), '')::bigint[]) AS visible, v.reason
FROM canonical.claim c JOIN canonical.claim_version v USING (tenant_id, claim_id)
WHERE c.claim_id = ANY (%(ids)s) AND upper_inf(v.known)

-- :name held_of_subjects -- what is validated about some predicates of some subjects
SELECT c.claim_id, v.version, c.memory_type, c.subject_id, c.predicate, c.value, c.object_id, c.statement, c.scope,
       v.slot, coalesce(v.cardinality, c.cardinality) AS cardinality, v.status, v.asserted, v.valid, lower(v.known) AS known_from, v.confidence, v.access_id,
       v.access_id = ANY (NULLIF(current_setting('muniment.visible'), '')::bigint[]) AS visible, v.reason
FROM canonical.claim c JOIN canonical.claim_version v USING (tenant_id, claim_id)
WHERE c.subject_id = ANY (%(subjects)s) AND c.predicate = ANY (%(predicates)s) AND upper_inf(v.known)
  AND v.status = 'validated'

-- :name held_of_predicate
SELECT c.claim_id, v.version, c.memory_type, c.subject_id, c.predicate, c.value, c.object_id, c.statement, c.scope,
       v.slot, coalesce(v.cardinality, c.cardinality) AS cardinality, v.status, v.asserted, v.valid, lower(v.known) AS known_from, v.confidence, v.access_id,
       v.access_id = ANY (NULLIF(current_setting('muniment.visible'), '')::bigint[]) AS visible, v.reason
FROM canonical.claim c JOIN canonical.claim_version v USING (tenant_id, claim_id)
WHERE (%(predicate)s::text IS NULL OR c.predicate = %(predicate)s) AND upper_inf(v.known)

-- :name confirmed_by_people -- an activity of this kind may also have moved others, which were validated already
SELECT DISTINCT v.claim_id FROM canonical.claim_version v
JOIN canonical.activity a ON a.tenant_id = v.tenant_id AND a.activity_id = v.decided_by
JOIN canonical.claim_version p ON p.tenant_id = v.tenant_id AND p.claim_id = v.claim_id AND p.version = v.version - 1
     AND p.status IN ('candidate', 'rejected', 'retracted')
WHERE v.claim_id = ANY (%(ids)s) AND v.status = 'validated' AND a.kind IN ('confirm', 'restore', 'decide')

-- :name links_of_slots -- open links that touch any claim in these slots
SELECT DISTINCT l.link_id, l.kind, l.from_claim, l.to_claim, l.scope, l.effective_from, l.correction, l.state, l.named
FROM canonical.claim_version c
CROSS JOIN LATERAL (
    SELECT * FROM canonical.claim_link WHERE tenant_id = c.tenant_id AND from_claim = c.claim_id
    UNION ALL SELECT * FROM canonical.claim_link WHERE tenant_id = c.tenant_id AND to_claim = c.claim_id) l
WHERE c.slot = ANY (%(slots)s) AND upper_inf(c.known) AND upper_inf(l.known) AND l.state <> 'rejected'

-- :name backing_in_slots -- which sources support the claims of some slots, and from when they say that it held
SELECT DISTINCT s.claim_id, s.asserted_from, e.source, e.trust, coalesce(e.author_id, e.source) AS origin
FROM canonical.claim_version c
CROSS JOIN LATERAL (
    SELECT * FROM canonical.claim_evidence WHERE tenant_id = c.tenant_id AND claim_id = c.claim_id OFFSET 0) s
CROSS JOIN LATERAL (
    SELECT * FROM canonical.evidence WHERE tenant_id = s.tenant_id AND evidence_id = s.evidence_id OFFSET 0) e
WHERE c.slot = ANY (%(slots)s) AND upper_inf(c.known) AND s.stance = 'supports' AND upper_inf(s.known)

-- :name spans_in_slots -- from the few claims of a slot, not from everything that one long document supports
SELECT s.claim_id, s.evidence_id, lower(s.span) AS start, upper(s.span) AS stop
FROM canonical.claim_version c CROSS JOIN unnest(%(evidence)s::uuid[]) cited CROSS JOIN LATERAL (
    SELECT * FROM canonical.claim_evidence
    WHERE tenant_id = c.tenant_id AND claim_id = c.claim_id AND evidence_id = cited OFFSET 0) s
WHERE c.slot = ANY (%(slots)s) AND upper_inf(c.known) AND s.stance = 'supports' AND upper_inf(s.known)

-- :name held_about -- every claim about some subjects, whatever its status
SELECT c.claim_id, v.version, c.memory_type, c.subject_id, c.predicate, c.value, c.object_id, c.statement, c.scope,
       v.slot, coalesce(v.cardinality, c.cardinality) AS cardinality, v.status, v.asserted, v.valid, lower(v.known) AS known_from, v.confidence, v.access_id,
       v.access_id = ANY (NULLIF(current_setting('muniment.visible'), '')::bigint[]) AS visible, v.reason
FROM canonical.claim c JOIN canonical.claim_version v USING (tenant_id, claim_id)
WHERE c.subject_id = ANY (%(subjects)s) AND upper_inf(v.known)

-- :name links_between -- open links between claims of some subjects and claims of others, made since a moment
SELECT l.link_id FROM canonical.claim_link l
JOIN canonical.claim f ON f.tenant_id = l.tenant_id AND f.claim_id = l.from_claim
JOIN canonical.claim t ON t.tenant_id = l.tenant_id AND t.claim_id = l.to_claim
WHERE upper_inf(l.known) AND lower(l.known) >= %(since)s
  AND ((f.subject_id = ANY (%(ours)s) AND t.subject_id = ANY (%(theirs)s))
       OR (f.subject_id = ANY (%(theirs)s) AND t.subject_id = ANY (%(ours)s)))

-- :name write_edit
SELECT canonical.write_edit(%(edit)s, %(at)s)

-- :name claims_as_of -- what was validated at one moment of the world, as known at one moment of this system
SELECT c.claim_id, v.version, c.memory_type, c.subject_id, c.predicate, c.value, c.statement, c.scope,
       coalesce(v.cardinality, c.cardinality) AS cardinality, v.status, v.valid, v.confidence, v.reason, canonical.scope_of(v.access_id) AS authorization_scope,
       (SELECT min(lower(f.known)) FROM canonical.claim_version f
        WHERE f.tenant_id = c.tenant_id AND f.claim_id = c.claim_id) AS observed_at
FROM canonical.claim c CROSS JOIN LATERAL (  -- OFFSET 0: from the few claims to their versions, never the other way
    SELECT * FROM canonical.claim_version WHERE tenant_id = c.tenant_id AND claim_id = c.claim_id OFFSET 0) v
WHERE (%(subject)s::text IS NULL OR c.subject_id = ANY (ARRAY(
           SELECT g.subject_id FROM canonical.group_of(%(subject)s, %(known_at)s) g WHERE g.visible)))
  AND (%(predicate)s::text IS NULL OR c.predicate = %(predicate)s)
  AND (%(memory_type)s::text IS NULL OR c.memory_type = %(memory_type)s)
  AND (%(scopes)s::text[] IS NULL OR c.scope = ANY (%(scopes)s))
  AND v.known @> coalesce(%(known_at)s::timestamptz, now()) AND v.status = ANY (%(statuses)s)
  AND (NOT %(holding)s OR v.valid @> coalesce(%(valid_at)s::timestamptz, now()))
  AND (%(after)s::uuid IS NULL OR c.claim_id > %(after)s)
ORDER BY c.claim_id LIMIT %(most)s

-- :name claims_by_id -- as claims_as_of, for ids that a search or a link named
SELECT c.claim_id, v.version, c.memory_type, c.subject_id, c.predicate, c.value, c.statement, c.scope,
       coalesce(v.cardinality, c.cardinality) AS cardinality, v.status, v.valid, v.confidence, v.reason, canonical.scope_of(v.access_id) AS authorization_scope,
       (SELECT min(lower(f.known)) FROM canonical.claim_version f
        WHERE f.tenant_id = c.tenant_id AND f.claim_id = c.claim_id) AS observed_at
FROM canonical.claim c JOIN canonical.claim_version v USING (tenant_id, claim_id)
WHERE c.claim_id = ANY (%(ids)s) AND v.known @> coalesce(%(known_at)s::timestamptz, now())

-- :name links_as_of -- active links of some claims, both ways
SELECT l.link_id, l.kind, l.from_claim, l.to_claim, l.scope, l.effective_from, l.state, l.correction,
       lower(l.known) AS known_from, upper(l.known) AS known_to
FROM canonical.claim_link l
WHERE (l.from_claim = ANY (%(ids)s) OR l.to_claim = ANY (%(ids)s)) AND l.known @> coalesce(%(known_at)s::timestamptz, now()) AND l.state <> 'rejected'
ORDER BY l.link_id

-- :name quotes_as_of -- the words behind some claims, read from the evidence itself
SELECT s.claim_id, s.evidence_id, e.source, e.source_id, lower(s.span) AS start, upper(s.span) AS stop,
       substr(e.content, lower(s.span) + 1, upper(s.span) - lower(s.span)) AS quote, s.stance, e.author_id AS author,
       e.trust, e.occurred_at, e.observed_at, canonical.scope_of(e.access_id) AS authorization_scope
FROM canonical.claim_evidence s JOIN canonical.evidence e USING (tenant_id, evidence_id)
WHERE s.claim_id = ANY (%(ids)s) AND s.known @> coalesce(%(known_at)s::timestamptz, now())
ORDER BY e.occurred_at, s.evidence_id, s.span

-- :name history
SELECT v.claim_id, v.version, v.status, v.valid, lower(v.known) AS known_from, upper(v.known) AS known_to, v.recorded_at,
       v.confidence, a.actor AS decided_by, v.reason
FROM canonical.claim_version v JOIN canonical.activity a ON a.tenant_id = v.tenant_id AND a.activity_id = v.decided_by
WHERE v.claim_id = %(claim_id)s ORDER BY v.version

-- :name claim_versions_after -- every version, in order, for rebuilds and the full drift comparison
SELECT c.claim_id, c.statement, v.version, v.status, v.valid, lower(v.known) AS known_from, upper(v.known) AS known_to,
       v.access_id
FROM (SELECT claim_id, statement FROM canonical.claim
      WHERE (%(after)s::uuid IS NULL OR claim_id > %(after)s) ORDER BY claim_id LIMIT %(most)s) AS c
JOIN canonical.claim_version v USING (claim_id)
ORDER BY c.claim_id, v.version

-- :name claim_versions_of -- the same of some claims
SELECT c.claim_id, c.statement, v.version, v.status, v.valid, lower(v.known) AS known_from, upper(v.known) AS known_to,
       v.access_id
FROM canonical.claim c JOIN canonical.claim_version v USING (tenant_id, claim_id)
WHERE c.claim_id = ANY (%(ids)s)
ORDER BY c.claim_id, v.version
