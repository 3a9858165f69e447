-- :name migration_lock
SELECT pg_advisory_lock(%(lock)s)

-- :name migration_unlock
SELECT pg_advisory_unlock(%(lock)s)

-- :name role_exists
SELECT 1 FROM pg_roles WHERE rolname = %(role)s

-- :name bootstrap_schemas -- the ledger belongs to the administrator; the application may only read it
DO $$
BEGIN
    EXECUTE format('GRANT muniment_owner, muniment_index TO %I', current_user);
    CREATE SCHEMA IF NOT EXISTS muniment;
    CREATE TABLE IF NOT EXISTS muniment.migration (
        name text PRIMARY KEY, digest text NOT NULL, applied_at timestamptz NOT NULL DEFAULT clock_timestamp());
    GRANT USAGE ON SCHEMA muniment TO muniment_app;
    GRANT SELECT ON muniment.migration TO muniment_app;
    CREATE SCHEMA IF NOT EXISTS canonical AUTHORIZATION muniment_owner;
    CREATE SCHEMA IF NOT EXISTS derived AUTHORIZATION muniment_index;
    CREATE SCHEMA IF NOT EXISTS memory AUTHORIZATION muniment_owner;
END
$$

-- :name recreate_derived_schema
DO $$
BEGIN
    DROP SCHEMA IF EXISTS derived CASCADE;
    CREATE SCHEMA derived AUTHORIZATION muniment_index;
END
$$

-- :name derived_is_present
SELECT to_regclass('derived.pin') IS NOT NULL AND to_regproc('derived.search_words') IS NOT NULL

-- :name migration_ledger
SELECT name, digest FROM muniment.migration

-- :name migration_record
INSERT INTO muniment.migration (name, digest) VALUES (%(name)s, %(digest)s)
ON CONFLICT (name) DO UPDATE SET digest = excluded.digest, applied_at = clock_timestamp()

-- :name database_exists
SELECT 1 FROM pg_database WHERE datname = %(name)s

-- :name create_database -- the same letters on every host, whatever its locale
CREATE DATABASE {} TEMPLATE template0 ENCODING 'UTF8' LOCALE_PROVIDER builtin BUILTIN_LOCALE 'C.UTF-8' LOCALE 'C.UTF-8'

-- :name analyze_sooner -- a new folder's tables grow from nothing to thousands of rows within the default minute, and
-- until autovacuum has looked every plan is made for empty ones: proposals then take 1.4 times as long
ALTER SYSTEM SET autovacuum_naptime = '5s'

-- :name reload_settings
SELECT pg_reload_conf()
