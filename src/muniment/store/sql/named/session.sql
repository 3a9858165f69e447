-- :name enter_tenant -- everything a transaction may see, for this transaction only
SELECT set_config('muniment.tenant', %(tenant)s, true),
       set_config('muniment.visible', canonical.visible_rules(%(tenant)s, %(grants)s)::text, true),
       set_config('muniment.reach', %(reach)s, true)

-- :name register_tenant
SELECT canonical.register_tenant() AS first

-- :name tenants
SELECT canonical.tenants()

-- :name role_safety
SELECT r.rolname, r.rolsuper, r.rolbypassrls,
       EXISTS (SELECT FROM pg_roles o WHERE o.rolname IN ('muniment_owner', 'muniment_index')
               AND pg_has_role(current_user, o.oid, 'MEMBER')) AS owns,
       EXISTS (SELECT FROM pg_roles a WHERE a.rolname = 'muniment_app' AND pg_has_role(current_user, a.oid, 'USAGE')) AS may_work
FROM pg_roles r WHERE r.rolname = current_user

-- :name transaction_now
SELECT now() AS now

-- :name server_now
SELECT clock_timestamp() AS now

-- :name health
SELECT current_setting('server_version'), current_user, (SELECT rolsuper FROM pg_roles WHERE rolname = current_user),
       (SELECT string_agg(extname || ' ' || extversion, ', ' ORDER BY extname) FROM pg_extension WHERE extname <> 'plpgsql')
