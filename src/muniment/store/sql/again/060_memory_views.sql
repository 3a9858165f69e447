-- One relation a memory type, for people who ask in SQL: what holds now, under the caller's own row-level security
-- (security_invoker; a view that ran as its owner would show every tenant). Needs the settings of 010.

DO $$
DECLARE
    name text;
    more text;
BEGIN
    FOREACH name IN ARRAY ARRAY['guideline', 'persona', 'entity', 'episode', 'workflow', 'tool'] LOOP
        more := CASE name
            WHEN 'workflow' THEN $v$,
                (SELECT count(*) FROM canonical.evidence e WHERE e.tenant_id = c.tenant_id AND e.kind = 'outcome'
                   AND e.metadata ->> 'claim' = c.claim_id::text AND e.metadata ->> 'result' = 'success'
                   AND NOT EXISTS (SELECT FROM canonical.withdrawal w
                                   WHERE w.tenant_id = e.tenant_id AND w.evidence_id = e.evidence_id)) AS successes,
                (SELECT count(*) FROM canonical.evidence e WHERE e.tenant_id = c.tenant_id AND e.kind = 'outcome'
                   AND e.metadata ->> 'claim' = c.claim_id::text AND e.metadata ->> 'result' = 'failure'
                   AND NOT EXISTS (SELECT FROM canonical.withdrawal w
                                   WHERE w.tenant_id = e.tenant_id AND w.evidence_id = e.evidence_id)) AS failures$v$
            WHEN 'episode' THEN $v$,
                c.value ->> 'run' AS run,
                ARRAY(SELECT e.source || ':' || e.source_id || ' v' || e.source_version
                      FROM canonical.claim_evidence s JOIN canonical.evidence e USING (tenant_id, evidence_id)
                      WHERE s.tenant_id = c.tenant_id AND s.claim_id = c.claim_id AND s.stance = 'supports'
                        AND upper_inf(s.known) ORDER BY 1) AS pinned_to$v$
            ELSE '' END;
        EXECUTE format('DROP VIEW IF EXISTS memory.%I', name);
        EXECUTE format($v$
            CREATE VIEW memory.%I WITH (security_invoker = true) AS
            SELECT c.tenant_id, c.claim_id, v.version, c.subject_id, c.predicate, c.value, c.statement, c.scope, v.valid,
                   lower(v.known) AS known_from, v.confidence, v.access_id%s
            FROM canonical.claim c JOIN canonical.claim_version v USING (tenant_id, claim_id)
            WHERE c.memory_type = %L AND upper_inf(v.known) AND v.status = 'validated' AND v.valid @> now()$v$,
            name, more, name);
    END LOOP;
END
$$;

DROP VIEW IF EXISTS memory.conversation;
CREATE VIEW memory.conversation WITH (security_invoker = true) AS
SELECT e.tenant_id, e.evidence_id, e.thread_id, e.occurred_at, e.observed_at, e.role, e.author_id AS author, e.kind,
       e.content, e.source, e.source_id, e.source_version AS version, e.access_id
FROM canonical.evidence e
WHERE e.kind IN ('message', 'event')
  AND NOT EXISTS (SELECT FROM canonical.withdrawal w WHERE w.tenant_id = e.tenant_id AND w.evidence_id = e.evidence_id);

DROP VIEW IF EXISTS memory.knowledge_base;
CREATE VIEW memory.knowledge_base WITH (security_invoker = true) AS
SELECT e.tenant_id, e.evidence_id, e.source, e.source_id, e.source_version AS version, e.uri, e.media_type, e.content,
       e.occurred_at, e.observed_at, e.metadata, e.access_id,
       NOT EXISTS (SELECT FROM canonical.evidence n WHERE n.tenant_id = e.tenant_id AND n.source = e.source
                   AND n.source_id = e.source_id AND n.source_version > e.source_version) AS latest
FROM canonical.evidence e
WHERE e.kind = 'document'
  AND NOT EXISTS (SELECT FROM canonical.withdrawal w WHERE w.tenant_id = e.tenant_id AND w.evidence_id = e.evidence_id);

GRANT USAGE ON SCHEMA memory TO muniment_app;
GRANT SELECT ON ALL TABLES IN SCHEMA memory TO muniment_app;
