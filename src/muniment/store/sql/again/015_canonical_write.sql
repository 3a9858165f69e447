-- One statement writes what a decision changed. It runs with the caller's own privileges and row-level security; only
-- ending what was known goes through the owner's functions of 010.
--
-- edit: {activity, rules[], subjects[], claims[], closed[], opened[], relabelled[], supports[], ended_links[], links[]}

CREATE OR REPLACE FUNCTION canonical.write_edit(edit jsonb, at timestamptz) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    tenant constant text := current_setting('muniment.tenant');
    act constant uuid := edit -> 'activity' ->> 'activity_id';
    known constant tstzrange := tstzrange(at, NULL);
BEGIN
    INSERT INTO canonical.activity (tenant_id, activity_id, kind, actor, software, used, started_at)
    SELECT tenant, act, a.kind, a.actor, a.software, a.used, a.started_at
    FROM jsonb_to_record(edit -> 'activity') AS a (kind text, actor text, software text, used jsonb, started_at timestamptz);

    INSERT INTO canonical.access_rule (tenant_id, access_id, alternative, labels)
    SELECT tenant, r.access_id, r.alternative, r.labels
    FROM jsonb_to_recordset(edit -> 'rules') AS r (access_id bigint, alternative smallint, labels text[])
    ON CONFLICT DO NOTHING;

    INSERT INTO canonical.subject (tenant_id, subject_id, activity_id)
    SELECT tenant, s, act FROM jsonb_array_elements_text(edit -> 'subjects') AS s ON CONFLICT DO NOTHING;

    INSERT INTO canonical.claim (tenant_id, claim_id, memory_type, subject_id, predicate, value, object_id, statement,
                                 scope, slot, cardinality, access_id, activity_id)
    SELECT tenant, c.claim_id, c.memory_type, c.subject_id, c.predicate, c.value, c.object_id, c.statement, c.scope,
           c.slot, c.cardinality, c.access_id, act
    FROM jsonb_to_recordset(edit -> 'claims') AS c (
        claim_id uuid, memory_type text, subject_id text, predicate text, value jsonb, object_id text, statement text,
        scope text, slot uuid, cardinality text, access_id bigint);

    -- All old versions end before a new one begins: rivals must never hold the same slot in between.
    IF jsonb_array_length(edit -> 'closed') > 0 THEN
        PERFORM canonical.close_versions(array_agg(c.claim_id), array_agg(c.version), at)
        FROM jsonb_to_recordset(edit -> 'closed') AS c (claim_id uuid, version integer);
    END IF;
    INSERT INTO canonical.claim_version (tenant_id, claim_id, version, slot, status, asserted, valid, known, confidence,
                                         access_id, decided_by, reason, cardinality)
    SELECT tenant, v.claim_id, v.version, v.slot, v.status, v.asserted, v.valid, known, v.confidence, v.access_id, act,
           v.reason, v.cardinality
    FROM jsonb_to_recordset(edit -> 'opened') AS v (
        claim_id uuid, version integer, slot uuid, status text, asserted tstzmultirange, valid tstzmultirange,
        confidence real, access_id bigint, reason text, cardinality text);
    IF jsonb_array_length(edit -> 'relabelled') > 0 THEN
        PERFORM canonical.relabel_claims(array_agg(c.claim_id), array_agg(c.access_id))
        FROM jsonb_to_recordset(edit -> 'relabelled') AS c (claim_id uuid, access_id bigint);
    END IF;

    INSERT INTO canonical.claim_evidence (tenant_id, claim_id, evidence_id, span, stance, quoted, asserted_from, known,
                                          access_id, activity_id)
    SELECT tenant, s.claim_id, s.evidence_id, int4range(s.start, s.stop), s.stance, s.quoted, s.asserted_from, known,
           s.access_id, act
    FROM jsonb_to_recordset(edit -> 'supports') AS s (
        claim_id uuid, evidence_id uuid, start integer, stop integer, stance text, quoted boolean,
        asserted_from timestamptz, access_id bigint)
    ON CONFLICT DO NOTHING;

    IF jsonb_array_length(edit -> 'ended_links') > 0 THEN
        PERFORM canonical.close_links(array_agg(l::uuid), at) FROM jsonb_array_elements_text(edit -> 'ended_links') AS l;
    END IF;
    INSERT INTO canonical.claim_link (tenant_id, link_id, kind, from_claim, to_claim, scope, effective_from, correction,
                                      state, known, access_id, decided_by, named)
    SELECT tenant, l.link_id, l.kind, l.from_claim, l.to_claim, l.scope, l.effective_from, l.correction, l.state, known,
           l.access_id, act, l.named
    FROM jsonb_to_recordset(edit -> 'links') AS l (
        link_id uuid, kind text, from_claim uuid, to_claim uuid, scope text, effective_from timestamptz,
        correction boolean, state text, access_id bigint, named boolean);
END
$$;
REVOKE ALL ON FUNCTION canonical.write_edit(jsonb, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION canonical.write_edit(jsonb, timestamptz) TO muniment_app;
