-- Tenants and access rules: what every other canonical row refers to.

-- No grant to the application: it registers and lists tenants through the two functions below.
CREATE TABLE canonical.tenant (
    tenant_id  text PRIMARY KEY CHECK (tenant_id <> ''),
    created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- One row an alternative: whoever holds all of `labels` satisfies the rule. access_id is a hash of the normal form
-- (muniment.model.access); rule 0, everyone in the tenant, has no row.
CREATE TABLE canonical.access_rule (
    tenant_id   text     NOT NULL,
    access_id   bigint   NOT NULL,
    alternative smallint NOT NULL,
    labels      text[]   NOT NULL CHECK (cardinality(labels) > 0),
    PRIMARY KEY (tenant_id, access_id, alternative)
);
CREATE INDEX access_rule_first_label ON canonical.access_rule (tenant_id, (labels[1]));

-- Who did what, when, with which software: the W3C PROV backbone. Holds ids and reasons, never content.
CREATE TABLE canonical.activity (
    tenant_id   text        NOT NULL,
    activity_id uuid        NOT NULL,
    kind        text        NOT NULL,
    actor       text        NOT NULL,
    software    text        NOT NULL,
    used        jsonb       NOT NULL DEFAULT '{}',
    started_at  timestamptz NOT NULL,
    recorded_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant_id, activity_id)
);
