-- The derived layer: everything here can be dropped and rebuilt from canonical memory.
--
-- Owned by muniment_index. The application has no grant on what carries words or vectors; it goes through the functions
-- of 030. `artifact` carries ids and hashes only, and the application works on it under row-level security.

-- English stems over unaccented words. Scripts without spaces arrive already split (muniment.derive.words).
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_ts_config c JOIN pg_namespace n ON n.oid = c.cfgnamespace
                   WHERE n.nspname = 'derived' AND c.cfgname = 'words') THEN
        CREATE TEXT SEARCH CONFIGURATION derived.words (COPY = pg_catalog.english);
        ALTER TEXT SEARCH CONFIGURATION derived.words
            ALTER MAPPING FOR hword, hword_part, word WITH unaccent, english_stem;
    END IF;
END
$$;

-- How a derivation is made. One is active; a change of model or of text rules is another recipe.
CREATE TABLE IF NOT EXISTS derived.recipe (
    recipe_id   smallint    PRIMARY KEY,
    derivation  text        NOT NULL,
    recipe_hash text        NOT NULL,
    parameters  jsonb       NOT NULL,
    state       text        NOT NULL CHECK (state IN ('active', 'shadow', 'retired')),
    created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    UNIQUE (derivation, recipe_hash)
);
CREATE UNIQUE INDEX IF NOT EXISTS recipe_one_active ON derived.recipe (derivation) WHERE state = 'active';

-- What was made from which version of what. The work queue is the drift itself: rows that are not fresh.
CREATE TABLE IF NOT EXISTS derived.artifact (
    tenant_id      text        NOT NULL,
    recipe_id      smallint    NOT NULL,
    source_kind    text        NOT NULL CHECK (source_kind IN ('claim', 'evidence')),
    source_id      uuid        NOT NULL,
    source_version integer     NOT NULL,
    input_hash     bytea       NOT NULL,
    state          text        NOT NULL CHECK (state IN ('fresh', 'stale', 'annotated', 'expired', 'failed')),
    attempts       smallint    NOT NULL DEFAULT 0,
    error          text,
    -- Not to be taken before: the lease of the worker that has it, or the wait after a failure.
    due_at         timestamptz NOT NULL DEFAULT '-infinity',
    PRIMARY KEY (tenant_id, source_id, recipe_id)
);
CREATE INDEX IF NOT EXISTS artifact_behind ON derived.artifact (tenant_id, recipe_id) WHERE state <> 'fresh';

-- Which tenants have been built at all; without a row, nothing can be called fresh.
CREATE TABLE IF NOT EXISTS derived.coverage (
    tenant_id text     NOT NULL,
    recipe_id smallint NOT NULL,
    PRIMARY KEY (tenant_id, recipe_id)
);

-- The filters of a search: one row a version of a source, so that any pair of clocks finds what held then.
CREATE TABLE IF NOT EXISTS derived.pin (
    tenant_id   text           NOT NULL,
    source_kind text           NOT NULL,
    source_id   uuid           NOT NULL,
    version     integer        NOT NULL,
    status      text           NOT NULL,
    valid       tstzmultirange NOT NULL,
    known       tstzrange      NOT NULL,
    occurred_at timestamptz,
    access_id   bigint         NOT NULL,
    PRIMARY KEY (tenant_id, source_id, version)
);

-- The searchable texts, as places in their source: a claim's statement is one part, a document many.
CREATE TABLE IF NOT EXISTS derived.unit (
    tenant_id   text      NOT NULL,
    recipe_id   smallint  NOT NULL,
    source_kind text      NOT NULL,
    source_id   uuid      NOT NULL,
    part        integer   NOT NULL,
    span        int4range NOT NULL,
    words       tsvector  NOT NULL,
    length      integer   NOT NULL,
    PRIMARY KEY (tenant_id, recipe_id, source_id, part)
);
CREATE INDEX IF NOT EXISTS unit_length ON derived.unit (tenant_id, recipe_id) INCLUDE (length);
-- A 1/64 sample by the last, random byte of the UUIDv7: counts of large tenants are estimated from it.
CREATE INDEX IF NOT EXISTS unit_sample ON derived.unit (tenant_id, recipe_id) INCLUDE (length)
    WHERE (get_byte(uuid_send(source_id), 15) & 63) = 0;

CREATE TABLE IF NOT EXISTS derived.posting (
    tenant_id text     NOT NULL,
    recipe_id smallint NOT NULL,
    term      text     NOT NULL,
    source_id uuid     NOT NULL,
    part      integer  NOT NULL,
    frequency smallint NOT NULL,
    length    integer  NOT NULL,
    PRIMARY KEY (tenant_id, recipe_id, term, source_id, part)
);
CREATE INDEX IF NOT EXISTS posting_sample ON derived.posting (tenant_id, recipe_id, term)
    WHERE (get_byte(uuid_send(source_id), 15) & 63) = 0;

-- One partition a recipe, each with its own dimension and HNSW index (see derived.ensure_recipe).
CREATE TABLE IF NOT EXISTS derived.embedding (
    tenant_id   text     NOT NULL,
    recipe_id   smallint NOT NULL,
    source_kind text     NOT NULL,
    source_id   uuid     NOT NULL,
    part        integer  NOT NULL,
    span        int4range NOT NULL,
    vector      vector   NOT NULL,
    PRIMARY KEY (tenant_id, recipe_id, source_id, part)
) PARTITION BY LIST (recipe_id);

DO $$
DECLARE name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['artifact', 'coverage', 'pin', 'unit', 'posting', 'embedding'] LOOP
        EXECUTE format('ALTER TABLE derived.%I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE derived.%I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('DROP POLICY IF EXISTS index_owner ON derived.%I', name);
        EXECUTE format('CREATE POLICY index_owner ON derived.%I TO muniment_index USING (true)', name);
        EXECUTE format('REVOKE ALL ON derived.%I FROM muniment_app, PUBLIC', name);
    END LOOP;
    FOREACH name IN ARRAY ARRAY['artifact', 'coverage'] LOOP
        EXECUTE format('DROP POLICY IF EXISTS of_tenant ON derived.%I', name);
        EXECUTE format('CREATE POLICY of_tenant ON derived.%I TO muniment_app '
                       'USING (tenant_id = current_setting(''muniment.tenant'', true))', name);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON derived.%I TO muniment_app', name);
    END LOOP;
END
$$;
REVOKE ALL ON derived.recipe FROM muniment_app, PUBLIC;
GRANT SELECT ON derived.recipe TO muniment_app;
GRANT USAGE ON SCHEMA derived TO muniment_app;
