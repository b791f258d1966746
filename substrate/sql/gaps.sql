-- Questions that found nothing.

-- name: gap_keep
-- Counts the question; one that was answered before and finds nothing now is open again, one laid aside stays so.
insert into gaps as g (kb_id, question, question_plain, via, asked, asked_seq, checked_seq)
values (%(kb_id)s, %(question)s, %(plain)s, %(via)s, 1, %(seq)s, %(seq)s)
on conflict (kb_id, question_plain) do update set
    asked = g.asked + 1,
    last_asked_at = clock_timestamp(),
    asked_seq = case when g.state = 'answered' then excluded.asked_seq else g.asked_seq end,
    checked_seq = case when g.state = 'answered' then excluded.checked_seq else g.checked_seq end,
    state = case when g.state = 'answered' then 'open' else g.state end,
    closed_at = case when g.state = 'answered' then null else g.closed_at end,
    closed_by = case when g.state = 'answered' then null else g.closed_by end,
    why = case when g.state = 'answered' then '' else g.why end,
    answer_chunk_id = null,
    answer_entity_id = null
returning g.id, g.question, g.asked, g.state, g.asked_seq

-- name: gap_asker
insert into gap_askers as a (kb_id, gap_id, asker, asked) values (%(kb_id)s, %(gap_id)s, %(asker)s, 1)
on conflict (kb_id, gap_id, asker) do update set asked = a.asked + 1, last_asked_at = clock_timestamp()

-- name: gaps_to_check
-- Open questions that something may answer that came since they were looked for.
select g.id, g.question, g.question_plain, g.asked_seq from gaps g
where g.kb_id = %(kb_id)s and g.state = 'open' and g.checked_seq < %(seq)s
order by g.asked desc, g.id

-- name: gaps_passages_since
-- lint: axis, since it asks what was recorded after a question.
-- Of some passages, those that are held and came after the question.
select c.id from chunks c
where c.kb_id = %(kb_id)s and c.id = any(%(ids)s) and c.invalidated_seq is null and c.recorded_seq > %(after)s

-- name: gap_answered
update gaps set state = 'answered', closed_at = clock_timestamp(), closed_by = %(by)s, answer_chunk_id = %(chunk_id)s,
       answer_entity_id = %(entity_id)s, checked_seq = %(seq)s
where kb_id = %(kb_id)s and id = %(id)s and state = 'open'

-- name: gaps_checked
update gaps set checked_seq = %(seq)s
where kb_id = %(kb_id)s and id = any(%(ids)s) and state = 'open' and checked_seq < %(seq)s

-- name: gap_dismiss
update gaps set state = 'dismissed', closed_at = clock_timestamp(), closed_by = %(by)s, why = %(why)s
where kb_id = %(kb_id)s and id = %(id)s and state = 'open' returning id

-- name: gap_reopen
update gaps set state = 'open', closed_at = null, closed_by = null, why = '', answer_chunk_id = null,
       answer_entity_id = null
where kb_id = %(kb_id)s and id = %(id)s and state <> 'open' returning id

-- name: gap_state
select state from gaps where kb_id = %(kb_id)s and id = %(id)s

-- name: gaps_listed
-- Questions of a state (null: any), those asked most first; of one asker, where given. The total is on every row.
select totals.total, g.*, c.document_id as answer_document_id, v.filename as answer_filename,
       (select count(*) from gap_askers a where a.kb_id = g.kb_id and a.gap_id = g.id) as askers
from (
    select count(*) as total from gaps n
    where n.kb_id = %(kb_id)s and (%(state)s::text is null or n.state = %(state)s)
      and (%(asker)s::text is null or exists (select from gap_askers a
           where a.kb_id = n.kb_id and a.gap_id = n.id and a.asker = %(asker)s))
) totals
left join lateral (
    select n.* from gaps n
    where n.kb_id = %(kb_id)s and (%(state)s::text is null or n.state = %(state)s)
      and (%(asker)s::text is null or exists (select from gap_askers a
           where a.kb_id = n.kb_id and a.gap_id = n.id and a.asker = %(asker)s))
    order by n.asked desc, n.last_asked_at desc, n.id limit %(limit)s offset %(offset)s
) g on true
left join chunks c on c.kb_id = g.kb_id and c.id = g.answer_chunk_id
left join document_versions v on v.kb_id = c.kb_id and v.id = c.version_id
order by g.asked desc, g.last_asked_at desc, g.id

-- name: status_recorded
-- Documents that somebody recorded (or one by its id, or by its idempotency key), newest first, with the total.
with mine as (
    select d.id, d.kind, t.seq, t.recorded_at, t.actor, t.via, t.idempotency_key
    from documents d
    join ledger_transaction t on t.kb_id = d.kb_id and t.seq = d.recorded_seq
    where d.kb_id = %(kb_id)s and [[recorded d]]
      and (%(document_id)s::uuid is null or d.id = %(document_id)s)
      and (%(key)s::text is null or t.idempotency_key = %(key)s)
      and (%(actor)s::text is null or t.actor = %(actor)s)
      and (%(since)s::timestamptz is null or t.recorded_at >= %(since)s)
)
select totals.total, m.id as document_id, m.kind, m.seq, m.recorded_at, m.actor, m.via, m.idempotency_key,
       v.filename, left(c.text, 300) as sentence, c.id as chunk_id, v.id is null as gone,
       exists (select from work w where w.kb_id = %(kb_id)s and w.state <> 'done' and w.stage <> 'embed'
                 and (w.item_id = v.id or w.item_id in (select x.id from chunks x
                                                        where x.kb_id = %(kb_id)s and x.version_id = v.id))) as waiting
from (select count(*) as total from mine) totals
left join lateral (select * from mine order by seq desc, id limit %(limit)s offset %(offset)s) m on true
left join lateral (
    select x.id, x.filename from document_versions x
    where x.kb_id = %(kb_id)s and x.document_id = m.id and [[held x]] order by x.number desc limit 1
) v on true
left join lateral (
    select x.id, x.text from chunks x
    where x.kb_id = %(kb_id)s and x.version_id = v.id and [[held x]] order by x.position limit 1
) c on true
order by m.seq desc, m.id

-- name: status_proposals
-- lint: axis, since it asks which of two statements came first.
-- What these documents proposed, as it stood; a confirmed one with the fact it is part of, and whether that was there
-- before it.
select p.id, p.document_id, p.recorded_at, [[held p]] as waits, p.verdict, p.decided_by, p.invalidated_at as decided_at,
       p.why, c.subject, coalesce(term.definition ->> 'label', p.predicate_key, c.phrase) as predicate_label,
       coalesce(c.object, c.value_raw) as object, c.quote, f.id as fact_id, f.joined
from pending_facts p
join claims c on c.kb_id = p.kb_id and c.id = p.claim_id
left join ontology_terms term on term.kb_id = p.kb_id and term.key = p.predicate_key and [[held term]]
left join lateral (
    select h.id, exists (select from evidence o
                         where o.kb_id = p.kb_id and o.lineage_id = h.lineage_id and o.assertion_id <> a.id
                           and o.recorded_seq < a.recorded_seq) as joined
    from assertions a
    join evidence v on v.kb_id = a.kb_id and v.assertion_id = a.id and [[held v]]
    join facts h on h.kb_id = a.kb_id and h.lineage_id = v.lineage_id and h.subject_id = a.subject_id and [[held h]]
    where a.kb_id = p.kb_id and a.claim_id = p.claim_id and a.source_key = 'claim:' || p.claim_id and [[held a]]
    order by h.id limit 1
) f on true
where p.kb_id = %(kb_id)s and p.document_id = any(%(documents)s) and [[recorded p]]
order by p.recorded_seq, p.id
