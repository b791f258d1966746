-- name: head_of_base
select h.seq, h.at, h.hash, k.created_at from kb_head h join kb k on k.id = h.kb_id where h.kb_id = %(kb_id)s

-- name: transaction_by_seq
select seq, recorded_at, head_hash from ledger_transaction where kb_id = %(kb_id)s and seq = %(seq)s

-- name: seq_at_moment
-- The last transaction at or before a moment.
select seq from ledger_transaction where kb_id = %(kb_id)s and recorded_at <= %(moment)s
order by recorded_at desc limit 1
