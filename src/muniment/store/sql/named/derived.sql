-- :name recipes
SELECT recipe_id, derivation, recipe_hash, parameters, state FROM derived.recipe ORDER BY recipe_id

-- :name ensure_recipe
SELECT derived.ensure_recipe(%(derivation)s, %(hash)s, %(parameters)s, %(activate)s)

-- :name share_derived -- writers share this lock; a rebuild takes it alone while it writes a page back
SELECT pg_advisory_xact_lock_shared(hashtextextended('derived' || chr(31) || current_setting('muniment.tenant'), 0))

-- :name hold_derived
SELECT pg_advisory_xact_lock(hashtextextended('derived' || chr(31) || current_setting('muniment.tenant'), 0))

-- :name mark_covered
INSERT INTO derived.coverage (tenant_id, recipe_id)
SELECT current_setting('muniment.tenant'), r FROM unnest(%(recipes)s::smallint[]) AS r ON CONFLICT DO NOTHING

-- :name covered
SELECT recipe_id FROM derived.coverage

-- :name write_batch
SELECT derived.write_batch(%(batch)s)

-- :name put_vectors
SELECT derived.put_vectors(%(recipe)s::smallint, %(kinds)s, %(ids)s, %(parts)s, %(starts)s, %(ends)s, %(vectors)b::vector[])

-- :name drop_sources
SELECT derived.drop_sources(%(ids)s)

-- :name clear_tenant
SELECT derived.clear_tenant()

-- :name behind -- everything that is not fresh; the partial index makes this grow with the drift, not with the total
SELECT a.recipe_id, a.source_id, a.state, a.error FROM derived.artifact a
WHERE a.recipe_id = ANY (%(recipes)s::smallint[]) AND a.state <> 'fresh' ORDER BY a.source_id

-- :name artifacts_of
SELECT a.source_id, a.recipe_id, a.source_version, a.input_hash, a.state, a.error
FROM derived.artifact a WHERE a.source_id = ANY (%(ids)s)

-- :name pins_of
SELECT source_kind, source_id, version, status, valid, known, occurred_at, access_id FROM derived.pins_of(%(ids)s)

-- :name derived_sources_after
SELECT source_kind, source_id FROM derived.sources_after(%(after)s, %(most)s)

-- :name existing_sources
SELECT claim_id FROM canonical.claim WHERE claim_id = ANY (%(ids)s)
UNION ALL SELECT evidence_id FROM canonical.evidence WHERE evidence_id = ANY (%(ids)s)

-- :name canonical_checksum -- the sum of a hash over every row of every canonical table of the tenant
SELECT sum(hashtextextended(t::text, 0)::numeric) FROM (
    SELECT x::text AS t FROM canonical.evidence x UNION ALL SELECT x::text FROM canonical.claim x
    UNION ALL SELECT x::text FROM canonical.claim_version x UNION ALL SELECT x::text FROM canonical.claim_evidence x
    UNION ALL SELECT x::text FROM canonical.claim_link x UNION ALL SELECT x::text FROM canonical.activity x
    UNION ALL SELECT x::text FROM canonical.subject x UNION ALL SELECT x::text FROM canonical.policy x
    UNION ALL SELECT x::text FROM canonical.identity x UNION ALL SELECT x::text FROM canonical.subject_merge x
    UNION ALL SELECT x::text FROM canonical.review x UNION ALL SELECT x::text FROM canonical.review_decision x
    UNION ALL SELECT x::text FROM canonical.extraction x UNION ALL SELECT x::text FROM canonical.withdrawal x
    UNION ALL SELECT x::text FROM canonical.access_rule x UNION ALL SELECT x::text FROM canonical.deletion x) AS t

-- :name search_words
SELECT source_kind, source_id, version, part, span, score, coverage
FROM derived.search_words(%(recipe)s::smallint, %(kinds)s, %(question)s, %(k)s, coalesce(%(valid_at)s::timestamptz, now()), coalesce(%(known_at)s::timestamptz, now()),
                          %(until_occurred)s::timestamptz)

-- :name search_vectors
SELECT source_kind, source_id, version, part, span, score, coverage
FROM derived.search_vectors(%(recipe)s::smallint, %(kinds)s, %(question)s, %(k)s, coalesce(%(valid_at)s::timestamptz, now()), coalesce(%(known_at)s::timestamptz, now()),
                            %(until_occurred)s::timestamptz)

-- :name index_vectors
SELECT derived.index_vectors(%(recipe)s::smallint)

-- :name refresh_statistics
SELECT derived.refresh_statistics()

-- :name wants_vector_index
SELECT derived.wants_vector_index(%(recipe)s::smallint)

-- :name tenants_behind
SELECT derived.tenants_behind(%(recipes)s::smallint[])

-- :name take_behind -- a batch that is due, leased: until the lease runs out no other worker takes it
WITH due AS (
    SELECT source_id, recipe_id FROM derived.artifact
    WHERE recipe_id = ANY (%(recipes)s::smallint[]) AND state <> 'fresh' AND state = 'stale' AND due_at <= now()
    ORDER BY source_id LIMIT %(most)s FOR UPDATE SKIP LOCKED)
UPDATE derived.artifact a SET due_at = now() + make_interval(secs => %(lease)s) FROM due
WHERE a.source_id = due.source_id AND a.recipe_id = due.recipe_id
RETURNING a.source_id, a.attempts::integer

-- :name note_failure
UPDATE derived.artifact SET attempts = %(failures)s, error = %(error)s,
    state = CASE WHEN %(ended)s THEN 'failed' ELSE 'stale' END, due_at = now() + make_interval(secs => %(delay)s)
WHERE source_id = %(source_id)s AND recipe_id = ANY (%(recipes)s::smallint[]) AND state = 'stale'

-- :name retry_failed
UPDATE derived.artifact SET state = 'stale', attempts = 0, due_at = '-infinity'
WHERE recipe_id = ANY (%(recipes)s::smallint[]) AND state = 'failed'

-- :name listen_for_work
LISTEN muniment_work

-- :name stop_listening
UNLISTEN muniment_work
