-- Writing the derived layer: the only way to what carries words and vectors. Every function acts on the tenant of the
-- transaction (muniment.tenant) and on nothing else.

CREATE OR REPLACE FUNCTION derived.this_tenant() RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$ SELECT current_setting('muniment.tenant') $$;

-- The id of a recipe; creates it (and, for vectors, its partition) when it is new.
CREATE OR REPLACE FUNCTION derived.ensure_recipe(
    of_derivation text, of_hash text, of_parameters jsonb, activate boolean) RETURNS smallint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = derived, public, pg_temp AS $$
DECLARE id smallint;
BEGIN
    SELECT recipe_id INTO id FROM derived.recipe WHERE derivation = of_derivation AND recipe_hash = of_hash;
    IF id IS NULL THEN
        LOCK TABLE derived.recipe IN SHARE ROW EXCLUSIVE MODE;
        SELECT recipe_id INTO id FROM derived.recipe WHERE derivation = of_derivation AND recipe_hash = of_hash;
    END IF;
    IF id IS NULL THEN
        SELECT coalesce(max(recipe_id), 0) + 1 INTO id FROM derived.recipe;
        INSERT INTO derived.recipe (recipe_id, derivation, recipe_hash, parameters, state)
        VALUES (id, of_derivation, of_hash, of_parameters,
                CASE WHEN EXISTS (SELECT FROM derived.recipe WHERE derivation = of_derivation AND state = 'active')
                     THEN 'shadow' ELSE 'active' END);
        IF of_parameters ? 'dimension' THEN
            EXECUTE format('CREATE TABLE derived.%I PARTITION OF derived.embedding FOR VALUES IN (%s)',
                           'embedding_' || id, id);
            EXECUTE format('ALTER TABLE derived.%I ENABLE ROW LEVEL SECURITY', 'embedding_' || id);
            EXECUTE format('ALTER TABLE derived.%I FORCE ROW LEVEL SECURITY', 'embedding_' || id);
            EXECUTE format('CREATE POLICY index_owner ON derived.%I TO muniment_index USING (true)',
                           'embedding_' || id);
        END IF;
    END IF;
    IF activate THEN
        UPDATE derived.recipe SET state = 'retired'
        WHERE derivation = of_derivation AND state = 'active' AND recipe_id <> id;
        UPDATE derived.recipe SET state = 'active' WHERE recipe_id = id AND state <> 'active';
    END IF;
    RETURN id;
END
$$;

-- Inserting into an HNSW graph costs milliseconds a row, and tenants of up to `exact_up_to` vectors are searched without
-- one. So the graph is built once some tenant has outgrown that, in one go, while writers of vectors wait. Returns
-- whether it was built now.
CREATE OR REPLACE FUNCTION derived.wants_vector_index(of_recipe smallint, exact_up_to integer DEFAULT 20000)
RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER SET search_path = derived, public, pg_temp AS $$
    SELECT to_regclass('derived.embedding_' || of_recipe || '_hnsw') IS NULL AND EXISTS (
        SELECT FROM derived.embedding WHERE recipe_id = of_recipe GROUP BY tenant_id HAVING count(*) > exact_up_to)
$$;

CREATE OR REPLACE FUNCTION derived.index_vectors(of_recipe smallint, exact_up_to integer DEFAULT 20000) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = derived, public, pg_temp SET maintenance_work_mem = '1GB' AS $$
DECLARE partition text := 'embedding_' || of_recipe; dimension integer;
BEGIN
    IF NOT derived.wants_vector_index(of_recipe, exact_up_to) THEN RETURN false; END IF;
    SELECT (parameters ->> 'dimension')::integer INTO dimension FROM derived.recipe WHERE recipe_id = of_recipe;
    EXECUTE format('CREATE INDEX %I ON derived.%I USING hnsw ((vector::vector(%s)) vector_cosine_ops)',
                   partition || '_hnsw', partition, dimension);
    RETURN true;
END
$$;

-- Fresh statistics after many rows came at once; without them the planner guesses badly until autovacuum gets there.
CREATE OR REPLACE FUNCTION derived.refresh_statistics() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = derived, public, pg_temp AS $$
BEGIN
    ANALYZE derived.pin; ANALYZE derived.unit; ANALYZE derived.posting; ANALYZE derived.embedding; ANALYZE derived.artifact;
END
$$;

-- rows: [{kind, id, version, status, valid, known, occurred_at, access_id}]
CREATE OR REPLACE FUNCTION derived.put_pins(rows jsonb) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = derived, pg_catalog, pg_temp AS $$
    INSERT INTO derived.pin AS p
        (tenant_id, source_kind, source_id, version, status, valid, known, occurred_at, access_id)
    SELECT derived.this_tenant(), kind, id, version, status, valid, known, occurred_at, access_id
    FROM jsonb_to_recordset(rows) AS r (kind text, id uuid, version integer, status text, valid tstzmultirange,
                                        known tstzrange, occurred_at timestamptz, access_id bigint)
    ON CONFLICT (tenant_id, source_id, version) DO UPDATE
    SET status = excluded.status, valid = excluded.valid, known = excluded.known,
        occurred_at = excluded.occurred_at, access_id = excluded.access_id
$$;

-- rows: [{kind, id, part, start, end, text}]; the sources must have no units in this recipe yet.
CREATE OR REPLACE FUNCTION derived.put_words(of_recipe smallint, rows jsonb) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = derived, public, pg_catalog, pg_temp AS $$
    WITH stated AS MATERIALIZED (
        SELECT kind, id, part, int4range(r.start, r."end") AS span, to_tsvector('derived.words', text) AS words
        FROM jsonb_to_recordset(rows) AS r (kind text, id uuid, part integer, start integer, "end" integer, text text)
    ), counted AS MATERIALIZED (
        SELECT s.*, (SELECT coalesce(sum(cardinality(w.positions)), 0)::integer FROM unnest(s.words) AS w) AS length
        FROM stated s
    ), units AS (
        INSERT INTO derived.unit (tenant_id, recipe_id, source_kind, source_id, part, span, words, length)
        SELECT derived.this_tenant(), of_recipe, kind, id, part, span, words, length FROM counted
    )
    INSERT INTO derived.posting (tenant_id, recipe_id, term, source_id, part, frequency, length)
    SELECT derived.this_tenant(), of_recipe, w.lexeme, c.id, c.part, cardinality(w.positions)::smallint, c.length
    FROM counted c, unnest(c.words) AS w
    ORDER BY w.lexeme, c.id
$$;

-- Five arrays of one length, and the vectors in the same order.
CREATE OR REPLACE FUNCTION derived.put_vectors(
    of_recipe smallint, kinds text[], ids uuid[], parts integer[], starts integer[], ends integer[], vectors vector[])
RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = derived, public, pg_catalog, pg_temp AS $$
    INSERT INTO derived.embedding (tenant_id, recipe_id, source_kind, source_id, part, span, vector)
    SELECT derived.this_tenant(), of_recipe, kind, id, part, int4range(start, stop), v
    FROM unnest(kinds, ids, parts, starts, ends, vectors) AS w (kind, id, part, start, stop, v)
$$;

-- Everything but vectors that a canonical write leaves behind, in one statement:
-- {pins[], words: {recipe, rows[]}, artifacts: [{recipe, kind, id, version, hash, state}], repinned: [{id, version}],
--  covered: [recipe]}. A version that changes nothing a derivation reads moves its pin, and nothing is computed again.
CREATE OR REPLACE FUNCTION derived.write_batch(batch jsonb) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = derived, pg_catalog, pg_temp AS $$
DECLARE tenant constant text := derived.this_tenant();
BEGIN
    PERFORM derived.put_pins(batch -> 'pins');
    IF jsonb_array_length(batch -> 'words' -> 'rows') > 0 THEN
        PERFORM derived.put_words((batch -> 'words' ->> 'recipe')::smallint, batch -> 'words' -> 'rows');
    END IF;
    INSERT INTO derived.artifact (tenant_id, recipe_id, source_kind, source_id, source_version, input_hash, state, error)
    SELECT tenant, a.recipe, a.kind, a.id, a.version, decode(a.hash, 'hex'), a.state, a.error
    FROM jsonb_to_recordset(batch -> 'artifacts') AS a (
        recipe smallint, kind text, id uuid, version integer, hash text, state text, error text)
    ON CONFLICT (tenant_id, source_id, recipe_id) DO UPDATE
    SET source_version = excluded.source_version, input_hash = excluded.input_hash, state = excluded.state,
        attempts = 0, error = excluded.error, due_at = '-infinity';
    IF jsonb_path_exists(batch, '$.artifacts[*] ? (@.state == "stale")') THEN
        -- Wakes workers at commit. No payload: every session of the database may listen.
        PERFORM pg_notify('muniment_work', '');
    END IF;
    IF jsonb_array_length(batch -> 'repinned') > 0 THEN
        UPDATE derived.artifact a SET source_version = w.version
        FROM jsonb_to_recordset(batch -> 'repinned') AS w (id uuid, version integer)
        WHERE a.tenant_id = tenant AND a.source_id = w.id;
    END IF;
    INSERT INTO derived.coverage (tenant_id, recipe_id)
    SELECT tenant, r::smallint FROM jsonb_array_elements_text(batch -> 'covered') AS r ON CONFLICT DO NOTHING;
END
$$;

-- Tenants with work that is due: for workers, which serve them all.
CREATE OR REPLACE FUNCTION derived.tenants_behind(recipes smallint[]) RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = derived, pg_catalog, pg_temp AS $$
    SELECT DISTINCT tenant_id FROM derived.artifact
    WHERE state <> 'fresh' AND state = 'stale' AND due_at <= now() AND recipe_id = ANY (recipes) ORDER BY 1
$$;

-- Empties this tenant's derived rows, the artifacts included.
CREATE OR REPLACE FUNCTION derived.clear_tenant() RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = derived, pg_catalog, pg_temp AS $$
    DELETE FROM derived.posting WHERE tenant_id = derived.this_tenant();
    DELETE FROM derived.unit WHERE tenant_id = derived.this_tenant();
    DELETE FROM derived.embedding WHERE tenant_id = derived.this_tenant();
    DELETE FROM derived.pin WHERE tenant_id = derived.this_tenant();
    DELETE FROM derived.artifact WHERE tenant_id = derived.this_tenant();
    DELETE FROM derived.coverage WHERE tenant_id = derived.this_tenant()
$$;

-- For the full drift comparison: what the derived layer holds about some sources, without words or vectors.
CREATE OR REPLACE FUNCTION derived.pins_of(ids uuid[])
RETURNS TABLE (source_kind text, source_id uuid, version integer, status text, valid tstzmultirange, known tstzrange,
               occurred_at timestamptz, access_id bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = derived, pg_catalog, pg_temp AS $$
    SELECT p.source_kind, p.source_id, p.version, p.status, p.valid, p.known, p.occurred_at, p.access_id FROM derived.pin p
    WHERE p.tenant_id = derived.this_tenant() AND p.source_id = ANY (ids)
$$;

-- Every source id that the derived layer still names, in order, after a given one: orphans are found by walking it.
CREATE OR REPLACE FUNCTION derived.sources_after(after uuid, most integer)
RETURNS TABLE (source_kind text, source_id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = derived, pg_catalog, pg_temp AS $$
    SELECT DISTINCT ON (p.source_id) p.source_kind, p.source_id FROM derived.pin p
    WHERE p.tenant_id = derived.this_tenant() AND (after IS NULL OR p.source_id > after)
    ORDER BY p.source_id LIMIT most
$$;

CREATE OR REPLACE FUNCTION derived.drop_sources(ids uuid[]) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = derived, pg_catalog, pg_temp AS $$
    WITH gone AS (
        DELETE FROM derived.unit WHERE tenant_id = derived.this_tenant() AND source_id = ANY (ids)
        RETURNING recipe_id, source_id, part, words
    )
    DELETE FROM derived.posting p USING gone, unnest(gone.words) AS w
    WHERE p.tenant_id = derived.this_tenant() AND p.recipe_id = gone.recipe_id AND p.term = w.lexeme
      AND p.source_id = gone.source_id AND p.part = gone.part;
    DELETE FROM derived.embedding WHERE tenant_id = derived.this_tenant() AND source_id = ANY (ids);
    DELETE FROM derived.pin WHERE tenant_id = derived.this_tenant() AND source_id = ANY (ids);
    DELETE FROM derived.artifact WHERE tenant_id = derived.this_tenant() AND source_id = ANY (ids)
$$;
