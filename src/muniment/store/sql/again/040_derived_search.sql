-- Ranked search. These functions carry the tenant, access and time predicates inside and return ids and scores, never
-- words: the caller reads the ids from canonical memory under row-level security in a second statement.
--
-- Row-level security around a full-text or vector predicate would forbid its index, since the operators are not
-- leakproof; that is why the search runs as the owner of the derived tables, with the predicates written out.

-- What a search hands out. For vectors `coverage` is 1.
DO $$
BEGIN
    IF to_regtype('derived.found') IS NULL THEN
        CREATE TYPE derived.found AS (source_kind text, source_id uuid, version integer, part integer, span int4range,
                                      score double precision, coverage double precision);
    END IF;
END
$$;

-- The pins that a read may use: visible to the grants, and held at both clocks. Evidence has no validity of its own;
-- until_occurred leaves out what was said after the moment asked about.
CREATE OR REPLACE FUNCTION derived.holds(
    p derived.pin, visible bigint[], valid_at timestamptz, known_at timestamptz, until_occurred timestamptz)
RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT p.access_id = ANY (visible) AND p.known @> known_at AND CASE p.source_kind
        WHEN 'claim' THEN p.status = 'validated' AND p.valid @> valid_at
        ELSE until_occurred IS NULL OR p.occurred_at IS NULL OR p.occurred_at <= until_occurred END
$$;

-- How many of a term's postings there are: exact up to `most`, beyond that 64 times the 1/64 sample.
CREATE OR REPLACE FUNCTION derived.document_frequency(of_tenant text, of_recipe smallint, of_term text, most integer)
RETURNS bigint LANGUAGE plpgsql STABLE SET search_path = derived, pg_catalog, pg_temp AS $$
DECLARE n bigint;
BEGIN
    SELECT count(*) INTO n FROM (SELECT FROM derived.posting
        WHERE tenant_id = of_tenant AND recipe_id = of_recipe AND term = of_term LIMIT most) AS bounded;
    IF n < most THEN RETURN n; END IF;
    SELECT greatest(64 * count(*), most) INTO n FROM derived.posting
    WHERE tenant_id = of_tenant AND recipe_id = of_recipe AND term = of_term
      AND (get_byte(uuid_send(source_id), 15) & 63) = 0;
    RETURN n;
END
$$;

-- The size of a tenant's corpus, counted in the same way: documents and their mean length in words.
CREATE OR REPLACE FUNCTION derived.corpus_size(of_tenant text, of_recipe smallint, most integer,
    OUT documents double precision, OUT mean_length double precision)
LANGUAGE plpgsql STABLE SET search_path = derived, pg_catalog, pg_temp AS $$
BEGIN
    SELECT count(*), avg(u.length) INTO documents, mean_length FROM (
        SELECT length FROM derived.unit WHERE tenant_id = of_tenant AND recipe_id = of_recipe LIMIT most) AS u;
    IF documents = most THEN
        SELECT greatest(64 * count(*), most), coalesce(avg(length), mean_length) INTO documents, mean_length
        FROM derived.unit
        WHERE tenant_id = of_tenant AND recipe_id = of_recipe AND (get_byte(uuid_send(source_id), 15) & 63) = 0;
    END IF;
    mean_length := greatest(mean_length, 1);
END
$$;

-- BM25 (Robertson and Zaragoza, 2009) with k1 = 0.9, b = 0.4 and idf = ln(1 + (N - n + 0.5) / (n + 0.5)).
--
-- While the postings of all terms are at most `exact_up_to`, every one of them is scored. Beyond that the rarest terms
-- supply the candidates: up to `enough` postings, and further terms only while there are fewer than 300, or three for
-- each row asked for; the best of them are scored with all terms. When that leaves fewer than k rows, all postings are
-- scored after all: a search never returns fewer than exist and match.
-- coverage: the share of the question's idf that the row matches, 0 to 1.
CREATE OR REPLACE FUNCTION derived.search_words(
    of_recipe smallint, kinds text[], question text, k integer,
    valid_at timestamptz, known_at timestamptz, until_occurred timestamptz,
    exact_up_to integer DEFAULT 20000, enough integer DEFAULT 4000)
RETURNS SETOF derived.found
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = derived, public, pg_catalog, pg_temp AS $$
DECLARE
    tenant constant text := derived.this_tenant();
    visible constant bigint[] := NULLIF(current_setting('muniment.visible', true), '')::bigint[];
    asked text[]; idfs double precision[]; seeds text[]; postings bigint;
    size record; hits derived.found[]; bounded boolean;
BEGIN
    asked := (tsvector_to_array(to_tsvector('derived.words', left(question, 64000))))[1:1000];
    SELECT * INTO size FROM derived.corpus_size(tenant, of_recipe, enough);
    WITH counted AS (
        SELECT t.term, derived.document_frequency(tenant, of_recipe, t.term, enough) AS n FROM unnest(asked) AS t (term)
        ORDER BY n, t.term LIMIT 200
    ), ranked AS (
        SELECT c.term, c.n, sum(c.n) OVER (ORDER BY c.n, c.term) AS running, sum(c.n) OVER () AS everything
        FROM counted c
    )
    SELECT array_agg(r.term ORDER BY r.term),
           array_agg(ln(1 + (greatest(size.documents, r.n) - r.n + 0.5) / (r.n + 0.5)) ORDER BY r.term),
           array_agg(r.term) FILTER (WHERE r.n > 0 AND (r.everything <= exact_up_to OR r.running <= enough
                                                        OR r.running - r.n < greatest(300, 3 * k))),
           max(r.everything)
    INTO asked, idfs, seeds, postings FROM ranked r;
    IF seeds IS NULL THEN RETURN; END IF;
    bounded := postings > exact_up_to;
    hits := ARRAY(SELECT s FROM derived.score_words(tenant, visible, of_recipe, kinds, asked, idfs, seeds,
        CASE WHEN bounded THEN greatest(300, 3 * k) END, size.mean_length, k, valid_at, known_at, until_occurred) s);
    IF bounded AND cardinality(hits) < k THEN
        hits := ARRAY(SELECT s FROM derived.score_words(tenant, visible, of_recipe, kinds, asked, idfs, asked,
            NULL, size.mean_length, k, valid_at, known_at, until_occurred) s);
    END IF;
    RETURN QUERY SELECT * FROM unnest(hits);
END
$$;

-- The scoring itself. best NULL: every posting of `seeds` is scored; otherwise that many of the best candidates which
-- the seeds supply are scored anew with all terms. The plan is fixed (OFFSET 0 keeps the planner from
-- regrouping): index lookups from terms to postings to pins, never a table read, whatever the statistics say.
CREATE OR REPLACE FUNCTION derived.score_words(
    tenant text, visible bigint[], of_recipe smallint, kinds text[], asked text[], idfs double precision[], seeds text[],
    best integer, mean_length double precision, k integer,
    valid_at timestamptz, known_at timestamptz, until_occurred timestamptz)
RETURNS SETOF derived.found
LANGUAGE sql STABLE SET search_path = derived, public, pg_catalog, pg_temp
SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off AS $$
    WITH weights AS MATERIALIZED (
        SELECT w.term, w.idf FROM unnest(asked, idfs) AS w (term, idf)
    ), candidates AS MATERIALIZED (
        SELECT h.source_id, h.part, sum(w.idf) AS matched,
               sum(w.idf * h.frequency * 1.9 / (h.frequency + 0.9 * (0.6 + 0.4 * h.length / mean_length))) AS score
        FROM weights w CROSS JOIN LATERAL (
            SELECT * FROM derived.posting
            WHERE tenant_id = tenant AND recipe_id = of_recipe AND term = w.term OFFSET 0) h
        WHERE w.term = ANY (seeds)
        GROUP BY h.source_id, h.part
    ), held AS MATERIALIZED (
        SELECT c.*, p.version, p.source_kind
        FROM candidates c JOIN derived.pin p ON p.tenant_id = tenant AND p.source_id = c.source_id
        WHERE p.source_kind = ANY (kinds) AND derived.holds(p, visible, valid_at, known_at, until_occurred)
        ORDER BY c.score DESC, c.source_id, c.part
        LIMIT coalesce(best, k)
    ), rescored AS (
        SELECT c.source_kind, c.source_id, c.version, c.part, coalesce(r.score, c.score) AS score,
               coalesce(r.matched, c.matched) AS matched
        FROM held c LEFT JOIN LATERAL (
            SELECT sum(w.idf) AS matched,
                   sum(w.idf * h.frequency * 1.9 / (h.frequency + 0.9 * (0.6 + 0.4 * h.length / mean_length))) AS score
            FROM weights w CROSS JOIN LATERAL (
                SELECT * FROM derived.posting
                WHERE tenant_id = tenant AND recipe_id = of_recipe AND term = w.term
                  AND source_id = c.source_id AND part = c.part OFFSET 0) h
        ) r ON best IS NOT NULL
        ORDER BY score DESC, c.source_id, c.part
        LIMIT k
    )
    SELECT s.source_kind, s.source_id, s.version, s.part, u.span, s.score,
           s.matched / NULLIF((SELECT sum(idf) FROM weights), 0)
    FROM rescored s JOIN derived.unit u
      ON u.tenant_id = tenant AND u.recipe_id = of_recipe AND u.source_id = s.source_id AND u.part = s.part
    ORDER BY s.score DESC, s.source_id, s.part
$$;

-- Cosine similarity. Exact while the tenant has at most `exact_up_to` vectors: a plain HNSW scan would return the
-- neighbours of everybody and then find none of them to be this tenant's. Beyond that an iterative HNSW scan, once the
-- graph exists; when it gives up before it has k rows, the exact search answers after all.
CREATE OR REPLACE FUNCTION derived.search_vectors(
    of_recipe smallint, kinds text[], question vector, k integer,
    valid_at timestamptz, known_at timestamptz, until_occurred timestamptz, exact_up_to integer DEFAULT 20000)
RETURNS SETOF derived.found
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = derived, public, pg_catalog, pg_temp AS $$
DECLARE
    tenant constant text := derived.this_tenant();
    visible constant bigint[] := NULLIF(current_setting('muniment.visible', true), '')::bigint[];
    hits derived.found[] := '{}'; size integer;
BEGIN
    IF to_regclass('derived.embedding_' || of_recipe || '_hnsw') IS NOT NULL THEN
        SELECT count(*) INTO size FROM (SELECT FROM derived.embedding
            WHERE tenant_id = tenant AND recipe_id = of_recipe LIMIT exact_up_to + 1) AS bounded;
        IF size > exact_up_to THEN
            hits := derived.near_vectors(
                tenant, visible, of_recipe, kinds, question, k, valid_at, known_at, until_occurred);
        END IF;
    END IF;
    IF cardinality(hits) < k THEN
        RETURN QUERY SELECT * FROM derived.exact_vectors(
            tenant, visible, of_recipe, kinds, question, k, valid_at, known_at, until_occurred);
    ELSE
        RETURN QUERY SELECT * FROM unnest(hits);
    END IF;
END
$$;

-- Every vector of the tenant that may be used. One pass over both tables, never a lookup a row.
CREATE OR REPLACE FUNCTION derived.exact_vectors(
    tenant text, visible bigint[], of_recipe smallint, kinds text[], question vector, k integer,
    valid_at timestamptz, known_at timestamptz, until_occurred timestamptz)
RETURNS SETOF derived.found
LANGUAGE sql STABLE SET search_path = derived, public, pg_catalog, pg_temp SET enable_nestloop = off AS $$
    SELECT p.source_kind, e.source_id, p.version, e.part, e.span, 1 - (e.vector <=> question), 1::double precision
    FROM derived.embedding e JOIN derived.pin p ON p.tenant_id = tenant AND p.source_id = e.source_id
    WHERE e.tenant_id = tenant AND e.recipe_id = of_recipe AND p.source_kind = ANY (kinds)
      AND derived.holds(p, visible, valid_at, known_at, until_occurred)
    ORDER BY e.vector <=> question, e.source_id, e.part LIMIT k
$$;

-- The HNSW index is on an expression that fixes the dimension, so the query must spell the same expression.
CREATE OR REPLACE FUNCTION derived.near_vectors(
    tenant text, visible bigint[], of_recipe smallint, kinds text[], question vector, k integer,
    valid_at timestamptz, known_at timestamptz, until_occurred timestamptz)
RETURNS derived.found[]
LANGUAGE plpgsql STABLE SET search_path = derived, public, pg_catalog, pg_temp
SET enable_hashjoin = off SET enable_mergejoin = off SET enable_sort = off AS $$
DECLARE hits derived.found[];
BEGIN
    PERFORM set_config('hnsw.iterative_scan', 'strict_order', true),
            set_config('hnsw.ef_search', greatest(100, least(1000, 2 * k))::text, true);
    EXECUTE format($q$
        SELECT array_agg(h) FROM (
            SELECT p.source_kind, e.source_id, p.version, e.part, e.span,
                   1 - ((e.vector::vector(%1$s)) <=> $1::vector(%1$s)), 1::double precision
            FROM derived.embedding e JOIN derived.pin p ON p.tenant_id = $2 AND p.source_id = e.source_id
            WHERE e.tenant_id = $2 AND e.recipe_id = %2$s AND p.source_kind = ANY ($3)
              AND derived.holds(p, $4, $5, $6, $7)
            ORDER BY (e.vector::vector(%1$s)) <=> $1::vector(%1$s) LIMIT $8) AS h$q$,
        vector_dims(question), of_recipe)
    INTO hits USING question, tenant, kinds, visible, valid_at, known_at, until_occurred, k;
    RETURN coalesce(hits, '{}');
END
$$;
