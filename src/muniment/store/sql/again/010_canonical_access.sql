-- Row-level security and privileges of the canonical tables. Re-applied at every upgrade, so it says all of it anew.
--
-- Three settings, always set with SET LOCAL: muniment.tenant, muniment.visible (the access rules that the grants
-- satisfy) and muniment.reach ('tenant' only inside the promotion gate, which must see hidden rivals). A setting that
-- is unset or empty makes the comparison NULL: no rows.

DO $$
DECLARE
    labelled text[] := ARRAY['evidence', 'identity', 'subject_merge', 'claim', 'claim_version', 'claim_evidence',
                             'claim_link', 'review', 'review_decision', 'withdrawal', 'extraction'];
    tenant_wide text[] := ARRAY['access_rule', 'activity', 'subject', 'policy', 'deletion'];
    of_tenant text := $p$tenant_id = current_setting('muniment.tenant', true)$p$;
    of_labels text := $p$(access_id = ANY (NULLIF(current_setting('muniment.visible', true), '')::bigint[])
                          OR current_setting('muniment.reach', true) = 'tenant')$p$;
    name text;
BEGIN
    FOREACH name IN ARRAY labelled || tenant_wide LOOP
        EXECUTE format('ALTER TABLE canonical.%I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE canonical.%I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('DROP POLICY IF EXISTS readable ON canonical.%I', name);
        EXECUTE format('DROP POLICY IF EXISTS insertable ON canonical.%I', name);
        EXECUTE format('DROP POLICY IF EXISTS changeable ON canonical.%I', name);
        EXECUTE format('CREATE POLICY readable ON canonical.%I FOR SELECT USING (%s)', name,
                       CASE WHEN name = ANY (labelled) THEN of_tenant || ' AND ' || of_labels ELSE of_tenant END);
        EXECUTE format('CREATE POLICY insertable ON canonical.%I FOR INSERT WITH CHECK (%s)', name, of_tenant);
        EXECUTE format('CREATE POLICY changeable ON canonical.%I FOR UPDATE USING (%s)', name, of_tenant);
        EXECUTE format('REVOKE ALL ON canonical.%I FROM muniment_app, PUBLIC', name);
        EXECUTE format('GRANT SELECT ON canonical.%I TO muniment_app', name);
    END LOOP;
    -- recorded_at is the database's own: no INSERT privilege names it. UPDATE and DELETE are granted on nothing.
    FOREACH name IN ARRAY labelled || tenant_wide LOOP
        EXECUTE format('GRANT INSERT (%s) ON canonical.%I TO muniment_app',
            (SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute
             WHERE attrelid = format('canonical.%I', name)::regclass AND attnum > 0 AND NOT attisdropped
               AND attname <> 'recorded_at'),
            name);
    END LOOP;
END
$$;

-- The rules a set of grants satisfies are found by the owner of the dictionary, so that the label index serves them.
DROP POLICY IF EXISTS owner_reads_rules ON canonical.access_rule;
CREATE POLICY owner_reads_rules ON canonical.access_rule FOR SELECT TO muniment_owner USING (true);

REVOKE ALL ON canonical.tenant FROM muniment_app, PUBLIC;

CREATE OR REPLACE FUNCTION canonical.visible_rules(of_tenant text, grants text[]) RETURNS bigint[]
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT ARRAY[0::bigint] || coalesce(array_agg(DISTINCT access_id), '{}')
    FROM canonical.access_rule
    WHERE tenant_id = of_tenant AND labels[1] = ANY (grants) AND (cardinality(labels) = 1 OR labels <@ grants)
$$;

-- Whether this is the tenant's first write.
-- A rule as people write it; NULL when everyone in the tenant satisfies it. Reads under the caller's own security.
CREATE OR REPLACE FUNCTION canonical.scope_of(of_rule bigint) RETURNS text
LANGUAGE sql STABLE AS $$
    SELECT string_agg(array_to_string(r.labels, ' + '), ' | ' ORDER BY array_to_string(r.labels, ' + ') COLLATE "C")
    FROM canonical.access_rule r WHERE r.access_id = of_rule
$$;

CREATE OR REPLACE FUNCTION canonical.register_tenant() RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    INSERT INTO canonical.tenant (tenant_id) VALUES (current_setting('muniment.tenant')) ON CONFLICT DO NOTHING;
    RETURN FOUND;
END
$$;

CREATE OR REPLACE FUNCTION canonical.tenants() RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT tenant_id FROM canonical.tenant ORDER BY tenant_id
$$;

-- The one change that canonical rows ever undergo: an open `known` gets its end. Returns the rows closed.
CREATE OR REPLACE FUNCTION canonical.close_versions(claims uuid[], versions integer[], at timestamptz) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE closed integer;
BEGIN
    UPDATE canonical.claim_version v SET known = tstzrange(lower(v.known), at)
    FROM unnest(claims, versions) AS w (claim_id, version)
    WHERE v.tenant_id = current_setting('muniment.tenant') AND v.claim_id = w.claim_id AND v.version = w.version
      AND upper_inf(v.known);
    GET DIAGNOSTICS closed = ROW_COUNT;
    RETURN closed;
END
$$;

CREATE OR REPLACE FUNCTION canonical.close_links(links uuid[], at timestamptz) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    UPDATE canonical.claim_link SET known = tstzrange(lower(known), greatest(at, lower(known) + interval '1 microsecond'))
    WHERE tenant_id = current_setting('muniment.tenant') AND link_id = ANY (links) AND upper_inf(known)
$$;

CREATE OR REPLACE FUNCTION canonical.close_supports(of_evidence uuid, at timestamptz) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    UPDATE canonical.claim_evidence SET known = tstzrange(lower(known), greatest(at, lower(known) + interval '1 microsecond'))
    WHERE tenant_id = current_setting('muniment.tenant') AND evidence_id = of_evidence AND upper_inf(known)
$$;

DROP FUNCTION IF EXISTS canonical.close_supports_of(uuid, uuid[], timestamptz);
CREATE OR REPLACE FUNCTION canonical.close_supports_of(
    of_claim uuid, evidences uuid[], starts integer[], stops integer[], at timestamptz) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    UPDATE canonical.claim_evidence s
    SET known = tstzrange(lower(s.known), greatest(at, lower(s.known) + interval '1 microsecond'))
    FROM unnest(evidences, starts, stops) AS w (evidence_id, start, stop)
    WHERE s.tenant_id = current_setting('muniment.tenant') AND s.claim_id = of_claim AND s.evidence_id = w.evidence_id
      AND s.span = int4range(w.start, w.stop) AND s.stance = 'supports' AND upper_inf(s.known)
$$;

CREATE OR REPLACE FUNCTION canonical.close_policy(of_predicate text, at timestamptz) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    UPDATE canonical.policy SET known = tstzrange(lower(known), at)
    WHERE tenant_id = current_setting('muniment.tenant') AND predicate = of_predicate AND upper_inf(known)
$$;

CREATE OR REPLACE FUNCTION canonical.close_merge(of_merge uuid, at timestamptz) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    UPDATE canonical.subject_merge SET known = tstzrange(lower(known), greatest(at, lower(known) + interval '1 microsecond'))
    WHERE tenant_id = current_setting('muniment.tenant') AND merge_id = of_merge AND upper_inf(known)
$$;

CREATE OR REPLACE FUNCTION canonical.close_identity(of_identity uuid, at timestamptz) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    UPDATE canonical.identity SET known = tstzrange(lower(known), greatest(at, lower(known) + interval '1 microsecond'))
    WHERE tenant_id = current_setting('muniment.tenant') AND identity_id = of_identity AND upper_inf(known)
$$;

CREATE OR REPLACE FUNCTION canonical.close_extraction(of_evidence uuid) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    UPDATE canonical.extraction
    SET known = tstzrange(lower(known), greatest(clock_timestamp(), lower(known) + interval '1 microsecond'))
    WHERE tenant_id = current_setting('muniment.tenant') AND evidence_id = of_evidence AND upper_inf(known)
$$;

-- One more support can widen who may see the words of a claim: the row carries the rule of its newest version.
CREATE OR REPLACE FUNCTION canonical.relabel_claims(claims uuid[], rules bigint[]) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    UPDATE canonical.claim c SET access_id = w.access_id
    FROM unnest(claims, rules) AS w (claim_id, access_id)
    WHERE c.tenant_id = current_setting('muniment.tenant') AND c.claim_id = w.claim_id AND c.access_id <> w.access_id
$$;

DO $$
DECLARE signature text;
BEGIN
    FOREACH signature IN ARRAY ARRAY['visible_rules(text, text[])', 'scope_of(bigint)', 'register_tenant()', 'tenants()',
        'close_versions(uuid[], integer[], timestamptz)', 'close_links(uuid[], timestamptz)',
        'close_supports(uuid, timestamptz)', 'close_supports_of(uuid, uuid[], integer[], integer[], timestamptz)', 'close_merge(uuid, timestamptz)', 'close_identity(uuid, timestamptz)',
        'close_policy(text, timestamptz)', 'relabel_claims(uuid[], bigint[])', 'close_extraction(uuid)']
    LOOP
        EXECUTE format('REVOKE ALL ON FUNCTION canonical.%s FROM PUBLIC', signature);
        EXECUTE format('GRANT EXECUTE ON FUNCTION canonical.%s TO muniment_app', signature);
    END LOOP;
END
$$;
GRANT USAGE ON SCHEMA canonical TO muniment_app;
