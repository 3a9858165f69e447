-- What became of a claim that somebody acted on: counted, never stored as a count.
CREATE INDEX evidence_outcome ON canonical.evidence ((metadata ->> 'claim'), tenant_id) WHERE kind = 'outcome';
