-- A place in evidence as the gate judges it: who said it, how far that is trusted, and the words around it. A function
-- of one query without settings of its own, so that the planner takes it apart: it runs under the caller's security.
--
-- `words` holds the cited characters (their first 4,000, when there are more) with up to 1,000 on either side;
-- `words_start` is where it begins. `speaks_for` are the subjects that its author is known to be.

DROP FUNCTION IF EXISTS canonical.cited(uuid, integer, integer);
CREATE FUNCTION canonical.cited(of_evidence uuid, start integer, stop integer)
RETURNS TABLE (
    evidence_id uuid, length integer, role text, trust text, source text, author text, occurred_at timestamptz,
    observed_at timestamptz, access_id bigint, imported boolean, visible boolean, words text, words_start integer,
    cited_start integer, cited_stop integer, speaks_for text[], withdrawn boolean)
LANGUAGE sql STABLE AS $$
    SELECT e.evidence_id, char_length(e.content), e.role, e.trust, e.source, e.author_id, e.occurred_at, e.observed_at,
           e.access_id, e.recorded_at - e.observed_at > interval '5 seconds',
           e.access_id = ANY (NULLIF(current_setting('muniment.visible'), '')::bigint[]),
           CASE WHEN stop IS NOT NULL THEN
               substr(e.content, greatest(start - 1000, 0) + 1, 
                      start - greatest(start - 1000, 0) + least(stop - start, 4000) + 1000)
           END,
           greatest(start - 1000, 0), start, stop,
           CASE WHEN e.author_id IS NULL THEN '{}' ELSE ARRAY(
               SELECT s.subject_id FROM canonical.subject s
               WHERE s.tenant_id = e.tenant_id AND s.subject_id = e.author_id
               UNION SELECT i.subject_id FROM canonical.identity i
               WHERE i.tenant_id = e.tenant_id AND ((i.provider = e.source AND i.external_id = e.author_id)
                      -- A mail's author is written as in its header: Janet Okafor <janet@example.com>.
                      OR (i.provider = 'email' AND lower(i.external_id)
                          IN (lower(e.author_id), lower(substring(e.author_id FROM '<([^<>]+)>$')))))
                 AND upper_inf(i.known)) END,
           EXISTS (SELECT FROM canonical.withdrawal w WHERE w.tenant_id = e.tenant_id AND w.evidence_id = e.evidence_id)
    -- OFFSET 0: found by its id, whatever the planner believes of a table that has just grown.
    FROM (SELECT * FROM canonical.evidence WHERE evidence_id = of_evidence OFFSET 0) e
$$;
REVOKE ALL ON FUNCTION canonical.cited(uuid, integer, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION canonical.cited(uuid, integer, integer) TO muniment_app;
