-- Merges, refusals, types and verdicts, and how each is taken back.

-- name: merge_of_id
-- A merge, with its revert if there is one.
select m.id, m.kept_id, m.absorbed_id, m.recorded_seq, r.recorded_seq as reverted_seq
from merges m left join reverts r on r.kb_id = m.kb_id and r.merge_id = m.id
where m.kb_id = %(kb_id)s and m.id = %(id)s

-- name: last_merge_of_transaction
select id from merges where kb_id = %(kb_id)s and recorded_seq = %(seq)s order by id desc limit 1

-- name: last_retyping_of_transaction
select id from retypings where kb_id = %(kb_id)s and recorded_seq = %(seq)s order by id desc limit 1

-- name: merges_in_force
-- The merges that made these clusters what they are, in the order they were made. Give every member.
select m.id, m.kept_id, m.absorbed_id
from merges m
where m.kb_id = %(kb_id)s and (m.kept_id = any(%(ids)s) or m.absorbed_id = any(%(ids)s))
  and not exists (select from reverts r where r.kb_id = m.kb_id and r.merge_id = m.id)
order by m.recorded_seq, m.id

-- name: held_canonical
select entity_id, canonical_id, merge_id, recorded_seq from entity_canonical
where kb_id = %(kb_id)s and entity_id = any(%(ids)s) and invalidated_seq is null

-- name: parted_pairs
-- The two ends of every merge that a person reverted, and of what a person said are two, that touch one of these.
select m.kept_id, m.absorbed_id
from merges m join reverts r on r.kb_id = m.kb_id and r.merge_id = m.id
join ledger_transaction t on t.kb_id = r.kb_id and t.seq = r.recorded_seq and t.actor <> 'pipeline'
where m.kb_id = %(kb_id)s and (m.kept_id = any(%(ids)s) or m.absorbed_id = any(%(ids)s))
union
select d.one_id, d.other_id from distinctions d
where d.kb_id = %(kb_id)s and d.invalidated_seq is null and (d.one_id = any(%(ids)s) or d.other_id = any(%(ids)s))

-- name: lineages_before
-- Assertion → the lineage, held no more, that it was evidence of when this transaction closed the link.
select e.assertion_id, e.lineage_id from evidence e
where e.kb_id = %(kb_id)s and e.assertion_id = any(%(ids)s) and e.invalidated_seq = %(seq)s
  and not exists (select from facts f
                  where f.kb_id = e.kb_id and f.lineage_id = e.lineage_id and f.invalidated_seq is null)
order by e.assertion_id, e.lineage_id

-- name: held_facts_of_entities
-- Facts that touch one of these entities, as rows whose timelines are to be computed anew.
select f.id, f.subject_id, f.object_id, f.predicate_key, f.phrase, f.value_norm, false as corrects from facts f
where f.kb_id = %(kb_id)s and f.invalidated_seq is null and f.subject_id = any(%(ids)s)
union
select f.id, f.subject_id, f.object_id, f.predicate_key, f.phrase, f.value_norm, false from facts f
where f.kb_id = %(kb_id)s and f.invalidated_seq is null and f.object_id = any(%(ids)s)

-- name: refusals_in_force
select id from refusals where kb_id = %(kb_id)s and id = any(%(ids)s) and invalidated_seq is null

-- name: withheld_of_assertions
-- What is withheld, with each refusal that does it and whether that is in force still.
select w.id, w.assertion_id, w.refusal_id, r.subject_id, r.predicate_key, r.phrase, r.object_id, r.value_norm,
       r.invalidated_seq is null as in_force
from withheld w join refusals r on r.kb_id = w.kb_id and r.id = w.refusal_id
where w.kb_id = %(kb_id)s and w.assertion_id = any(%(ids)s) and w.invalidated_seq is null

-- name: assertions_withheld_by
-- Live assertions that these refusals keep out.
select distinct a.id, a.subject_id, a.predicate_key, a.phrase, a.object_id, a.value_norm, a.stated_from,
       a.stated_to_precision, a.chunk_id, a.document_id, a.quote_start, a.corrects
from withheld w join assertions a on a.kb_id = w.kb_id and a.id = w.assertion_id
where w.kb_id = %(kb_id)s and w.refusal_id = any(%(ids)s) and w.invalidated_seq is null and a.invalidated_seq is null

-- name: assertions_beside
-- Live assertions of these passages.
select a.* from assertions a
where a.kb_id = %(kb_id)s and a.document_id = any(%(document_ids)s) and a.chunk_id = any(%(chunk_ids)s)
  and a.invalidated_seq is null

-- name: claims_refused_by
-- Remembered claims that were not proposed since one of these refusals met them, or one of any that reached these
-- entities; where their passage is held.
select c.*, d.kind as document_kind, d.namespace, k.document_id, k.version_id, v.author,
       coalesce(v.doc_time, p.doc_time) as attested_at, false as mentioned
from refusal_restatements x
join refusals f on f.kb_id = x.kb_id and f.id = x.refusal_id
join claims c on c.kb_id = x.kb_id and c.id = case when x.source_key like 'claim:%%' then substr(x.source_key, 7)::uuid end
join chunks k on k.kb_id = c.kb_id and k.id = c.chunk_id
join documents d on d.kb_id = k.kb_id and d.id = k.document_id and d.kind = 'memory'
join document_versions v on v.kb_id = k.kb_id and v.id = k.version_id
left join parse_results p on p.kb_id = k.kb_id and p.version_id = k.version_id and p.parser = k.parser
where x.kb_id = %(kb_id)s and [[held k]]
  and (f.id = any(%(refusals)s) or f.subject_id = any(%(entities)s) or f.object_id = any(%(entities)s))
order by x.recorded_seq, k.document_id, k.position, c.ordinal

-- name: refusals_that_met
-- For every time that refusals met these statements, those in force by then that had, and whether their batch was
-- reverted since.
-- lint: axis, since it asks what became of a row later, not what was held.
select distinct y.source_key, y.recorded_seq as met_seq, f.id as refusal_id, f.subject_id, f.predicate_key, f.phrase,
       f.object_id, f.value_norm,
       exists (select from verdicts v join reverts r on r.kb_id = v.kb_id and r.batch_id = v.batch_id
               where v.kb_id = f.kb_id and v.refusal_id = f.id) as undone
from refusal_restatements y
join refusal_restatements x on x.kb_id = y.kb_id and x.source_key = y.source_key and x.recorded_seq <= y.recorded_seq
join refusals f on f.kb_id = x.kb_id and f.id = x.refusal_id
  and (f.invalidated_seq is null or f.invalidated_seq > y.recorded_seq)
where y.kb_id = %(kb_id)s and y.source_key = any(%(keys)s)

-- name: claims_of_proposals
-- The claims behind pending facts, as claims_of_chunks reads them, with the verdict if there is one.
select c.*, d.kind as document_kind, d.namespace, k.document_id, k.version_id, v.author,
       coalesce(v.doc_time, p.doc_time) as attested_at, false as mentioned, q.id as pending_id, q.verdict
from pending_facts q
join claims c on c.kb_id = q.kb_id and c.id = q.claim_id
join chunks k on k.kb_id = c.kb_id and k.id = c.chunk_id
join documents d on d.kb_id = k.kb_id and d.id = k.document_id
join document_versions v on v.kb_id = k.kb_id and v.id = k.version_id
left join parse_results p on p.kb_id = k.kb_id and p.version_id = k.version_id and p.parser = k.parser
where q.kb_id = %(kb_id)s and q.id = any(%(ids)s)
order by k.document_id, k.position, c.ordinal

-- name: verdict_batch_of_id
-- A batch, with its revert if there is one.
select b.id, b.recorded_seq, r.recorded_seq as reverted_seq
from verdict_batches b left join reverts r on r.kb_id = b.kb_id and r.batch_id = b.id
where b.kb_id = %(kb_id)s and b.id = %(id)s

-- name: verdicts_of_batch
-- What was decided, with the columns of the proposal, and whether the passage is held still.
select v.refusal_id, p.id, p.claim_id, p.chunk_id, p.document_id, p.namespace, p.predicate_key, p.proposed_by,
       k.id is not null as said
from verdicts v
join pending_facts p on p.kb_id = v.kb_id and p.id = v.pending_id
left join chunks k on k.kb_id = p.kb_id and k.id = p.chunk_id and [[held k]]
where v.kb_id = %(kb_id)s and v.batch_id = %(id)s
order by p.recorded_seq, p.id

-- name: confirmed_beside
-- Proposals of these passages that are confirmed, by a verdict in force that is not of this batch.
select p.id from pending_facts p
where p.kb_id = %(kb_id)s and p.chunk_id = any(%(chunk_ids)s) and p.verdict = 'confirmed'
  and not exists (
      select from verdicts v left join reverts r on r.kb_id = v.kb_id and r.batch_id = v.batch_id
      where v.kb_id = p.kb_id and v.pending_id = p.id and (v.batch_id = %(batch_id)s or r.id is not null))

-- name: assertions_of_claims
-- Live assertions that these claims made, names included.
select a.* from assertions a
where a.kb_id = %(kb_id)s and a.document_id = any(%(document_ids)s) and a.claim_id = any(%(ids)s)
  and a.invalidated_seq is null

-- name: retyping_of_id
select t.id, t.entity_id, t.recorded_seq, r.recorded_seq as reverted_seq
from retypings t left join reverts r on r.kb_id = t.kb_id and r.retyping_id = t.id
where t.kb_id = %(kb_id)s and t.id = %(id)s

-- name: last_retyping
-- What a person said last of an entity's type and did not take back.
select t.id, t.type_key from retypings t
where t.kb_id = %(kb_id)s and t.entity_id = %(entity_id)s
  and not exists (select from reverts r where r.kb_id = t.kb_id and r.retyping_id = t.id)
order by t.recorded_seq desc, t.id desc limit 1

-- name: held_human_type
select id, retyping_id from human_types
where kb_id = %(kb_id)s and entity_id = %(entity_id)s and invalidated_seq is null

-- name: reads_merges
-- Merges by the moment, newest first, each with its revert if there was one by then.
with made as (
    select m.* from merges m where m.kb_id = %(kb_id)s and [[recorded m]]
)
select totals.total, m.id, m.kept_id, m.absorbed_id, m.why, m.recorded_at, m.recorded_seq, k.label as kept,
       a.label as absorbed, t.actor, t.via, r.id as revert_id, r.why as revert_why, r.recorded_at as reverted_at,
       r.recorded_seq as reverted_seq, u.actor as reverted_by
from (select count(*) as total from made) totals
left join (select * from made order by recorded_seq desc, id desc limit %(limit)s offset %(offset)s) m on true
left join entities k on k.kb_id = m.kb_id and k.id = m.kept_id
left join entities a on a.kb_id = m.kb_id and a.id = m.absorbed_id
left join ledger_transaction t on t.kb_id = m.kb_id and t.seq = m.recorded_seq
left join reverts r on r.kb_id = m.kb_id and r.merge_id = m.id and [[recorded r]]
left join ledger_transaction u on u.kb_id = r.kb_id and u.seq = r.recorded_seq
order by m.recorded_seq desc, m.id desc

-- name: reads_retypings
-- What people said of types by the moment, newest first, each with its revert if there was one by then.
with made as (
    select m.* from retypings m
    where m.kb_id = %(kb_id)s and [[recorded m]]
      and (%(entity_id)s::uuid is null or m.entity_id = %(entity_id)s)
)
select totals.total, m.id, m.entity_id, e.label as entity, m.type_key, m.why, m.recorded_at, m.recorded_seq, t.actor,
       t.via, h.id is not null as in_force, r.id as revert_id, r.why as revert_why, r.recorded_at as reverted_at,
       r.recorded_seq as reverted_seq, u.actor as reverted_by
from (select count(*) as total from made) totals
left join (select * from made order by recorded_seq desc, id desc limit %(limit)s offset %(offset)s) m on true
left join entities e on e.kb_id = m.kb_id and e.id = m.entity_id
left join human_types h on h.kb_id = m.kb_id and h.entity_id = m.entity_id and h.retyping_id = m.id and [[held h]]
left join ledger_transaction t on t.kb_id = m.kb_id and t.seq = m.recorded_seq
left join reverts r on r.kb_id = m.kb_id and r.retyping_id = m.id and [[recorded r]]
left join ledger_transaction u on u.kb_id = r.kb_id and u.seq = r.recorded_seq
order by m.recorded_seq desc, m.id desc

-- name: reads_verdicts
-- Batches of verdicts by the moment, newest first, each with what was decided and its revert if there was one by then.
with made as (
    select m.* from verdict_batches m where m.kb_id = %(kb_id)s and [[recorded m]]
)
select totals.total, m.id, m.why, m.recorded_at, m.recorded_seq, t.actor, t.via, given.verdicts, r.id as revert_id,
       r.why as revert_why, r.recorded_at as reverted_at, r.recorded_seq as reverted_seq, u.actor as reverted_by
from (select count(*) as total from made) totals
left join (select * from made order by recorded_seq desc, id desc limit %(limit)s offset %(offset)s) m on true
left join ledger_transaction t on t.kb_id = m.kb_id and t.seq = m.recorded_seq
left join reverts r on r.kb_id = m.kb_id and r.batch_id = m.id and [[recorded r]]
left join ledger_transaction u on u.kb_id = r.kb_id and u.seq = r.recorded_seq
left join lateral (
    select jsonb_agg(jsonb_build_object(
               'pending_id', v.pending_id, 'verdict', case when v.refusal_id is null then 'confirmed' else 'rejected' end,
               'refusal_id', v.refusal_id, 'subject', c.subject, 'phrase', c.phrase,
               'object', coalesce(c.object, c.value_raw), 'quote', c.quote) order by p.recorded_seq, p.id) as verdicts
    from verdicts v
    join pending_facts p on p.kb_id = v.kb_id and p.id = v.pending_id
    join claims c on c.kb_id = p.kb_id and c.id = p.claim_id
    where v.kb_id = m.kb_id and v.batch_id = m.id and [[recorded v]]
) given on true
order by m.recorded_seq desc, m.id desc

-- name: reads_lifted
-- Refusals that were lifted by the moment, the last lifted first, with who lifted them and why.
-- lint: axis, since it asks what became of a row by then, not what was held.
with lifted as (
    select r.* from refusals r
    where r.kb_id = %(kb_id)s and r.invalidated_seq <= %(seq)s
)
select totals.total, r.id, r.subject_id, r.predicate_key, r.phrase, r.object_id, r.value_norm, r.why, r.recorded_at,
       r.recorded_seq, s.label as subject, o.label as object, t.actor as refused_by, t.via,
       r.invalidated_at as lifted_at, r.invalidated_seq as lifted_seq, u.actor as lifted_by, u.why as lifted_why,
       u.action as lifted_action, coalesce(term.definition ->> 'label', r.predicate_key, r.phrase) as predicate_label
from (select count(*) as total from lifted) totals
left join (select * from lifted order by invalidated_seq desc, id limit %(limit)s offset %(offset)s) r on true
left join entities s on s.kb_id = r.kb_id and s.id = r.subject_id
left join entities o on o.kb_id = r.kb_id and o.id = r.object_id
left join ledger_transaction t on t.kb_id = r.kb_id and t.seq = r.recorded_seq
left join ledger_transaction u on u.kb_id = r.kb_id and u.seq = r.invalidated_seq
left join ontology_terms term on term.kb_id = r.kb_id and term.key = r.predicate_key and [[held term]]
order by r.invalidated_seq desc, r.id

-- name: reads_restatements
-- How often each of these refusals was restated by the moment, and by which documents how often. What counts again since
-- a merge was reverted was no restatement of it.
select x.refusal_id, d.id as document_id, d.external_id, count(*) as times
from refusal_restatements x
join refusals f on f.kb_id = x.kb_id and f.id = x.refusal_id
left join documents d on d.kb_id = x.kb_id and d.id = x.document_id
where x.kb_id = %(kb_id)s and x.refusal_id = any(%(ids)s) and [[recorded x]]
  and (not ([[held f]]) or not exists (
      select from withheld w join assertions a on a.kb_id = w.kb_id and a.id = w.assertion_id
      where w.kb_id = x.kb_id and w.refusal_id = x.refusal_id and a.source_key = x.source_key and [[recorded w]]
      having count(*) > 0 and not bool_or([[held w]])))
group by x.refusal_id, d.id, d.external_id
order by x.refusal_id, times desc, d.external_id
