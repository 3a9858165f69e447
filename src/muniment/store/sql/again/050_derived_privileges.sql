-- The audited list: every function of the derived schema that the application may call, and nothing else.
DO $$
DECLARE signature text;
BEGIN
    FOR signature IN SELECT p.oid::regprocedure::text FROM pg_proc p WHERE p.pronamespace = 'derived'::regnamespace LOOP
        EXECUTE 'REVOKE ALL ON FUNCTION ' || signature || ' FROM PUBLIC, muniment_app';
    END LOOP;
    FOREACH signature IN ARRAY ARRAY[
        'ensure_recipe(text, text, jsonb, boolean)',
        'index_vectors(smallint, integer)',
        'wants_vector_index(smallint, integer)',
        'refresh_statistics()',
        'write_batch(jsonb)',
        'put_vectors(smallint, text[], uuid[], integer[], integer[], integer[], vector[])',
        'drop_sources(uuid[])',
        'clear_tenant()',
        'tenants_behind(smallint[])',
        'pins_of(uuid[])',
        'sources_after(uuid, integer)',
        'search_words(smallint, text[], text, integer, timestamptz, timestamptz, timestamptz, integer, integer)',
        'search_vectors(smallint, text[], vector, integer, timestamptz, timestamptz, timestamptz, integer)']
    LOOP
        EXECUTE format('GRANT EXECUTE ON FUNCTION derived.%s TO muniment_app', signature);
    END LOOP;
END
$$;
