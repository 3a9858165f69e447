-- :name lock_extraction -- attempts at one evidence are recorded one after the other
SELECT pg_advisory_xact_lock(hashtextextended('extract' || chr(31) || current_setting('muniment.tenant') || chr(31)
                                              || %(evidence_id)s::text, 0))

-- :name close_extraction
SELECT canonical.close_extraction(%(evidence_id)s)

-- :name insert_pending -- in the transaction that stores the evidence
INSERT INTO canonical.extraction (tenant_id, extraction_id, evidence_id, extractor, attempt, state, known, access_id,
                                  activity_id)
VALUES (current_setting('muniment.tenant'), %(extraction_id)s, %(evidence_id)s, %(extractor)s, 0, 'pending',
        tstzrange(clock_timestamp(), NULL), %(access_id)s, %(activity_id)s)
ON CONFLICT DO NOTHING

-- :name insert_pending_again -- of an evidence that is there already; with its own label
INSERT INTO canonical.extraction (tenant_id, extraction_id, evidence_id, extractor, attempt, state, known, access_id,
                                  activity_id)
SELECT e.tenant_id, %(extraction_id)s, e.evidence_id, %(extractor)s, 0, 'pending', tstzrange(clock_timestamp(), NULL),
       e.access_id, %(activity_id)s
FROM canonical.evidence e WHERE e.evidence_id = %(evidence_id)s
ON CONFLICT DO NOTHING

-- :name insert_extraction -- the next attempt; another extractor counts its own
INSERT INTO canonical.extraction (tenant_id, extraction_id, evidence_id, extractor, attempt, state, error, calls,
                                  input_tokens, output_tokens, candidates, refused, known, access_id, activity_id)
SELECT e.tenant_id, %(extraction_id)s, e.evidence_id, %(extractor)s,
       1 + coalesce((SELECT max(x.attempt) FROM canonical.extraction x
                     WHERE x.evidence_id = e.evidence_id AND x.extractor = %(extractor)s), 0),
       %(state)s, %(error)s, %(calls)s, %(input_tokens)s, %(output_tokens)s, %(candidates)s, %(refused)s,
       tstzrange(clock_timestamp(), NULL), e.access_id, %(activity_id)s
FROM canonical.evidence e WHERE e.evidence_id = %(evidence_id)s

-- :name extraction_state -- whether this extractor has done it, and how the latest attempt of any went
SELECT coalesce(bool_or(x.state = 'done' AND x.extractor = %(extractor)s), false) AS done,
       max(x.state) FILTER (WHERE upper_inf(x.known)) AS latest
FROM canonical.extraction x WHERE x.evidence_id = %(evidence_id)s

-- :name extractions_waiting -- whose latest attempt failed or never ended, those that waited longest first
SELECT x.evidence_id
FROM canonical.extraction x
WHERE upper_inf(x.known) AND x.state <> 'done' AND (x.attempt < %(attempts)s OR x.extractor <> %(extractor)s)
ORDER BY lower(x.known), x.evidence_id LIMIT %(most)s

-- :name extractions_of -- every attempt at an evidence, in order
SELECT x.extractor, x.attempt, x.state, x.error, x.calls, x.input_tokens, x.output_tokens, x.candidates, x.refused,
       x.recorded_at
FROM canonical.extraction x WHERE x.evidence_id = %(evidence_id)s ORDER BY lower(x.known)
