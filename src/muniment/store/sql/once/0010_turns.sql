-- The flight recorder: an activity of kind 'turn' holds the envelope, ids and reasons without content. Newest first, by
-- run or thread.
CREATE INDEX activity_turn ON canonical.activity (activity_id DESC, tenant_id) WHERE kind = 'turn';
CREATE INDEX activity_turn_run ON canonical.activity ((used ->> 'run'), activity_id DESC, tenant_id) WHERE kind = 'turn';
CREATE INDEX activity_turn_thread ON canonical.activity ((used ->> 'thread'), activity_id DESC, tenant_id)
    WHERE kind = 'turn';
