-- name: read_as_logged
-- Times of this transaction's answers as the log writes them, whatever the session was set to.
select set_config('TimeZone', 'UTC', true), set_config('DateStyle', 'ISO, YMD', true)

-- name: log_after
-- lint: axis the log is walked from a number on; null: all there is, forged numbers included
select seq, ordinal, kind, payload, salt, payload_hash, prev_hash, hash from ledger_log
where kb_id = %(kb_id)s and (%(after)s::bigint is null or seq > %(after)s::bigint)
order by seq, ordinal

-- name: transactions_after
select seq, recorded_at, actor, via, action, why, idempotency_key, events, head_hash from ledger_transaction
where kb_id = %(kb_id)s and (%(after)s::bigint is null or seq > %(after)s::bigint)
order by seq

-- name: last_hash_of
-- The hash a transaction ends with, as the log has it.
select hash from ledger_log where kb_id = %(kb_id)s and seq = %(seq)s order by ordinal desc limit 1
