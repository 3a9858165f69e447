-- :name verify_claims -- a hit leaves only if canonical memory holds exactly this version at these clocks
SELECT c.claim_id, v.version, c.statement
FROM unnest(%(ids)s::uuid[], %(versions)s::integer[]) AS h (id, version)
JOIN canonical.claim c ON c.claim_id = h.id
JOIN canonical.claim_version v ON v.tenant_id = c.tenant_id AND v.claim_id = c.claim_id AND v.version = h.version
WHERE v.status = 'validated' AND v.known @> coalesce(%(known_at)s::timestamptz, now()) AND v.valid @> coalesce(%(valid_at)s::timestamptz, now())

-- :name last_said -- when claims were last said or confirmed; nothing where no policy asks for it
SELECT c.claim_id, greatest(
    (SELECT max(s.asserted_from) FROM canonical.claim_evidence s
     WHERE s.tenant_id = c.tenant_id AND s.claim_id = c.claim_id AND s.stance = 'supports'
       AND s.known @> coalesce(%(known_at)s::timestamptz, now())),
    (SELECT max(lower(v.known)) FROM canonical.claim_version v
     WHERE v.tenant_id = c.tenant_id AND v.claim_id = c.claim_id AND starts_with(v.reason, 'confirmed by ')
       AND lower(v.known) <= coalesce(%(known_at)s::timestamptz, now()))) AS last_said
FROM canonical.claim c
WHERE c.claim_id = ANY (%(ids)s)
  AND EXISTS (SELECT FROM canonical.policy p WHERE p.definition ->> 'reconfirm_after' IS NOT NULL)

-- :name policies_as_of
SELECT definition, version FROM canonical.policy
WHERE known @> coalesce(%(known_at)s::timestamptz, now()) ORDER BY predicate

-- :name verify_evidence
SELECT e.evidence_id, e.source_version AS version, h.start, h.stop, substr(e.content, h.start + 1, h.stop - h.start) AS text,
       e.source, e.source_id, e.author_id AS author, e.trust, e.occurred_at, e.observed_at,
       canonical.scope_of(e.access_id) AS authorization_scope
FROM unnest(%(ids)s::uuid[], %(versions)s::integer[], %(starts)s::integer[], %(stops)s::integer[])
     AS h (id, version, start, stop)
JOIN canonical.evidence e ON e.evidence_id = h.id AND e.source_version = h.version
WHERE e.observed_at <= coalesce(%(known_at)s::timestamptz, now())
  AND NOT EXISTS (SELECT FROM canonical.withdrawal w WHERE w.tenant_id = e.tenant_id AND w.evidence_id = e.evidence_id
                  AND w.known @> coalesce(%(known_at)s::timestamptz, now()))
  AND (%(until_occurred)s::timestamptz IS NULL OR e.occurred_at IS NULL OR e.occurred_at <= %(until_occurred)s)

-- :name claims_of_evidence -- what these words support, whether it still holds, and what took its place
SELECT s.evidence_id, lower(s.span) AS start, upper(s.span) AS stop, s.claim_id,
       v.status = 'validated' AND v.valid @> coalesce(%(valid_at)s::timestamptz, now()) AS holds,
       v.status = 'retracted' OR (v.status = 'validated' AND v.valid << tstzrange(coalesce(%(valid_at)s::timestamptz, now()), NULL)) AS ended,
       ARRAY(SELECT l.from_claim FROM canonical.claim_link l
             WHERE l.to_claim = s.claim_id AND l.kind = 'supersedes' AND l.state = 'active' AND l.known @> coalesce(%(known_at)s::timestamptz, now())
             ORDER BY l.link_id) AS heirs
FROM canonical.claim_evidence s
JOIN canonical.claim_version v ON v.tenant_id = s.tenant_id AND v.claim_id = s.claim_id AND v.known @> coalesce(%(known_at)s::timestamptz, now())
WHERE s.evidence_id = ANY (%(ids)s) AND s.stance = 'supports' AND s.known @> coalesce(%(known_at)s::timestamptz, now())

-- :name ended_without_heir -- the newest of what a subject had, predicate by predicate, where nothing holds any more
SELECT DISTINCT ON (c.predicate) c.predicate, c.value, upper(v.valid) AS ended, v.reason
FROM canonical.claim c CROSS JOIN LATERAL (
    SELECT * FROM canonical.claim_version WHERE tenant_id = c.tenant_id AND claim_id = c.claim_id OFFSET 0) v
WHERE c.subject_id = ANY (ARRAY(SELECT g.subject_id FROM canonical.group_of(%(subject)s, %(known_at)s) g WHERE g.visible))
  AND (%(scopes)s::text[] IS NULL OR c.scope = ANY (%(scopes)s))
  AND v.known @> coalesce(%(known_at)s::timestamptz, now())
  AND (v.status = 'unsupported'
       OR (v.status = 'validated' AND v.valid << tstzrange(coalesce(%(valid_at)s::timestamptz, now()), NULL)))
  AND NOT EXISTS (
      SELECT FROM canonical.claim o CROSS JOIN LATERAL (
          SELECT * FROM canonical.claim_version WHERE tenant_id = o.tenant_id AND claim_id = o.claim_id OFFSET 0) w
      WHERE o.subject_id = ANY (ARRAY(SELECT g.subject_id FROM canonical.group_of(%(subject)s, %(known_at)s) g WHERE g.visible))
        AND o.predicate = c.predicate AND w.status = 'validated'
        AND (%(scopes)s::text[] IS NULL OR o.scope = ANY (%(scopes)s))
        AND w.known @> coalesce(%(known_at)s::timestamptz, now())
        AND w.valid @> coalesce(%(valid_at)s::timestamptz, now()))
ORDER BY c.predicate, upper(v.valid) DESC NULLS LAST LIMIT %(most)s

-- :name outcomes_of -- how some claims fared
SELECT e.metadata ->> 'claim' AS claim_id, count(*) FILTER (WHERE e.metadata ->> 'result' = 'success') AS successes,
       count(*) FILTER (WHERE e.metadata ->> 'result' = 'failure') AS failures,
       max(coalesce(e.occurred_at, e.observed_at)) AS last_at
FROM canonical.evidence e
WHERE e.kind = 'outcome' AND e.metadata ->> 'claim' = ANY (%(ids)s)
  AND e.observed_at <= coalesce(%(known_at)s::timestamptz, now())
  AND NOT EXISTS (SELECT FROM canonical.withdrawal w WHERE w.tenant_id = e.tenant_id AND w.evidence_id = e.evidence_id
                  AND w.known @> coalesce(%(known_at)s::timestamptz, now()))
GROUP BY 1

-- :name pinned_evidence -- the versions that a claim rests on, and the newest of each source known then
SELECT DISTINCT e.evidence_id, e.source, e.source_id, e.source_version AS version, e.occurred_at,
       (SELECT max(n.source_version) FROM canonical.evidence n
        WHERE n.tenant_id = e.tenant_id AND n.source = e.source AND n.source_id = e.source_id
          AND n.observed_at <= coalesce(%(known_at)s::timestamptz, now())) AS latest_version
FROM canonical.claim_evidence s
CROSS JOIN LATERAL (
    SELECT * FROM canonical.evidence WHERE tenant_id = s.tenant_id AND evidence_id = s.evidence_id OFFSET 0) e
WHERE s.claim_id = %(claim_id)s AND s.stance = 'supports' AND s.known @> coalesce(%(known_at)s::timestamptz, now())
ORDER BY e.source, e.source_id, e.source_version

-- :name turns -- envelopes of turns whose message the session may see, the newest first
SELECT a.used FROM canonical.activity a
WHERE a.kind = 'turn' AND (%(turn_id)s::uuid IS NULL OR a.activity_id = %(turn_id)s)
  AND (%(run)s::text IS NULL OR a.used ->> 'run' = %(run)s)
  AND (%(thread)s::text IS NULL OR a.used ->> 'thread' = %(thread)s)
  AND (%(before)s::uuid IS NULL OR a.activity_id < %(before)s)
  AND EXISTS (SELECT FROM canonical.evidence e
              WHERE e.tenant_id = a.tenant_id AND e.evidence_id = (a.used ->> 'message_id')::uuid)
ORDER BY a.activity_id DESC LIMIT %(most)s
