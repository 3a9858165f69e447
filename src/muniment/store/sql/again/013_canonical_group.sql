-- The subjects that are one with a subject, by the merges believed at `known_at` (NULL: now), itself included. `visible`:
-- by merges that the session's own grants may see, whatever its reach. `shared`: by merges that everyone in the tenant may
-- see; only those decide about claims, since what they end is ended for everyone. Runs under the caller's security.

DROP FUNCTION IF EXISTS canonical.group_of(text, timestamptz);
CREATE FUNCTION canonical.group_of(of_subject text, known_at timestamptz)
RETURNS TABLE (subject_id text, visible boolean, shared boolean)
LANGUAGE sql STABLE AS $$
    WITH RECURSIVE member (subject_id, visible, shared) AS (
        SELECT of_subject, true, true
        UNION
        SELECT m.other, g.visible AND m.access_id = ANY (NULLIF(current_setting('muniment.visible'), '')::bigint[]),
               g.shared AND m.access_id = 0
        FROM member g CROSS JOIN LATERAL (
            SELECT into_subject, known, access_id FROM canonical.subject_merge WHERE from_subject = g.subject_id
            UNION ALL
            SELECT from_subject, known, access_id FROM canonical.subject_merge WHERE into_subject = g.subject_id
        ) AS m (other, known, access_id)
        WHERE CASE WHEN known_at IS NULL THEN upper_inf(m.known) ELSE m.known @> known_at END)
    SELECT m.subject_id, bool_or(m.visible), bool_or(m.shared) FROM member m GROUP BY m.subject_id
$$;
REVOKE ALL ON FUNCTION canonical.group_of(text, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION canonical.group_of(text, timestamptz) TO muniment_app;
