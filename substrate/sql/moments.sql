-- name: head_of_base
select h.seq, h.at, h.hash, k.created_at from kb_head h join kb k on k.id = h.kb_id where h.kb_id = %(kb_id)s

-- name: transaction_by_seq
select seq, recorded_at, head_hash from ledger_transaction where kb_id = %(kb_id)s and seq = %(seq)s

-- name: seq_at_moment
-- The last transaction at or before a moment (0: none), and whether the head answers for that moment: it has not come,
-- or it came within the last minute while the head's time is ahead of the clock.
select coalesce((select t.seq from ledger_transaction t where t.kb_id = %(kb_id)s and t.recorded_at <= %(moment)s
                 order by t.recorded_at desc limit 1), 0) as seq,
       %(moment)s::timestamptz > clock_timestamp()
         or (%(head_at)s::timestamptz > clock_timestamp()
             and %(moment)s::timestamptz > clock_timestamp() - interval '1 minute') as at_head
