-- name: binding_decisions
-- What is decided of phrases beside the words that relations declare.
select b.phrase, b.predicate_key, b.backwards, b.method = 'person' as by_person
from bindings b
where b.kb_id = %(kb_id)s and [[held b]] and b.method in ('similarity', 'votes', 'person')

-- name: bindings_asserted
-- The shapes of claims that held assertions rest on, each with what the assertions were bound to.
select c.phrase, c.wording, c.subject_kind, c.object_kind, c.object is not null as named,
       c.value_number is not null as numbered, c.value_unit is not null as with_unit, c.value_type,
       a.predicate_key, a.object_id is not null as linked, count(*) as claims
from assertions a join claims c on c.kb_id = a.kb_id and c.id = a.claim_id
where a.kb_id = %(kb_id)s and a.source_key = 'claim:' || c.id and [[held a]]
group by c.phrase, c.wording, c.subject_kind, c.object_kind, c.object is not null, c.value_number is not null,
         c.value_unit is not null, c.value_type, a.predicate_key, a.object_id is not null

-- name: bindings_asserted_claims
-- Claims that held assertions rest on, of these phrases in these wordings, in reading order of their documents.
select c.id, c.chunk_id, c.extractor, c.phrase, c.wording, c.subject_kind, c.object_kind, c.object is not null as named,
       c.value_number is not null as numbered, c.value_unit is not null as with_unit, c.value_type,
       a.predicate_key, a.object_id is not null as linked
from assertions a
join claims c on c.kb_id = a.kb_id and c.id = a.claim_id
join chunks k on k.kb_id = c.kb_id and k.id = c.chunk_id
where a.kb_id = %(kb_id)s and a.source_key = 'claim:' || c.id and [[held a]]
  and (c.phrase, c.wording) in (select * from unnest(%(phrases)s::text[], %(wordings)s::text[]))
order by c.extractor, k.document_id, k.position, c.ordinal

-- name: bindings_claims_of_chunks
-- As `claims_of_chunks`, of chunks that are held no more too, each claim with the held assertion that rests on it.
select c.*, d.kind as document_kind, d.namespace, k.document_id, k.version_id, v.author,
       coalesce(v.doc_time, p.doc_time) as attested_at, a.id as assertion_id, a.subject_id, a.object_id
from claims c
join chunks k on k.kb_id = c.kb_id and k.id = c.chunk_id
join documents d on d.kb_id = k.kb_id and d.id = k.document_id
join document_versions v on v.kb_id = k.kb_id and v.id = k.version_id
left join parse_results p on p.kb_id = k.kb_id and p.version_id = k.version_id and p.parser = k.parser
left join assertions a on a.kb_id = c.kb_id and a.source_key = 'claim:' || c.id and [[held a]]
where c.kb_id = %(kb_id)s and c.chunk_id = any(%(ids)s) and c.extractor = %(extractor)s and c.mood is null
order by k.document_id, k.position, c.ordinal

-- name: bindings_names_of_chunks
-- Which names of which entities these chunks are held to tell.
select a.* from assertions a
where a.kb_id = %(kb_id)s and a.chunk_id = any(%(ids)s) and a.source_key like 'name:%%' and [[held a]]

-- name: bindings_assertions
-- These assertions, each with the fact it supports.
select a.*, e.lineage_id from assertions a
left join evidence e on e.kb_id = a.kb_id and e.assertion_id = a.id and [[held e]]
where a.kb_id = %(kb_id)s and a.id = any(%(ids)s)

-- name: bindings_lineages_held
select distinct f.lineage_id from facts f where f.kb_id = %(kb_id)s and f.lineage_id = any(%(ids)s) and [[held f]]

-- name: bindings_outcome
-- What one transaction made of facts, a row for each lineage that it wrote to: as it was before and as it is after, by
-- the name that each end was first met under. Facts it both wrote and closed are left out.
with was as (
    select f.* from facts f
    where f.kb_id = %(kb_id)s and f.invalidated_seq = %(seq)s and f.recorded_seq <> %(seq)s
), now as (
    select f.* from facts f where f.kb_id = %(kb_id)s and f.recorded_seq = %(seq)s and f.invalidated_seq is null
)
select coalesce(w.lineage_id, n.lineage_id) as lineage_id, w.id as was_id, n.id as now_id,
       ws.label as was_subject, w.predicate_key as was_predicate, w.phrase as was_phrase,
       coalesce(wo.label, w.value_raw) as was_object, w.object_id is not null as was_linked,
       w.subject_id as was_subject_id, w.object_id as was_object_id, w.value_norm as was_value,
       ns.label as now_subject, n.predicate_key as now_predicate, n.phrase as now_phrase,
       coalesce(no.label, n.value_raw) as now_object, n.object_id is not null as now_linked,
       n.subject_id as now_subject_id, n.object_id as now_object_id, n.value_norm as now_value,
       w.valid_from as was_from, w.valid_to as was_to, w.valid_to_precision as was_to_precision,
       n.valid_from as now_from, n.valid_to as now_to, n.valid_to_precision as now_to_precision
from was w full join now n on n.kb_id = w.kb_id and n.lineage_id = w.lineage_id
left join entities ws on ws.kb_id = w.kb_id and ws.id = w.subject_id
left join entities wo on wo.kb_id = w.kb_id and wo.id = w.object_id
left join entities ns on ns.kb_id = n.kb_id and ns.id = n.subject_id
left join entities no on no.kb_id = n.kb_id and no.id = n.object_id
order by coalesce(ns.label, ws.label), coalesce(n.phrase, w.phrase), coalesce(no.label, n.value_raw, wo.label, w.value_raw),
         n.valid_from nulls first, w.valid_from nulls first, coalesce(w.lineage_id, n.lineage_id)

-- name: bindings_side_effects
-- What one transaction did beside facts.
select (select count(*) from entities e where e.kb_id = %(kb_id)s and e.recorded_seq = %(seq)s) as entities_made,
       (select count(*) from conflicts c where c.kb_id = %(kb_id)s and c.recorded_seq = %(seq)s) as conflicts_opened,
       (select count(*) from conflicts c where c.kb_id = %(kb_id)s and c.invalidated_seq = %(seq)s) as conflicts_withdrawn,
       (select count(distinct w.assertion_id) from withheld w
        where w.kb_id = %(kb_id)s and w.recorded_seq = %(seq)s) as refused

-- name: bindings_held
select b.* from bindings b where b.kb_id = %(kb_id)s and [[held b]] order by b.phrase

-- name: bindings_by_id
select b.* from bindings b where b.kb_id = %(kb_id)s and b.id = any(%(ids)s)

-- name: bindings_of_phrases
select b.* from bindings b where b.kb_id = %(kb_id)s and b.phrase = any(%(phrases)s) and [[held b]]

-- name: bindings_phrases
-- What held claims say, one row for each phrase, wording and look of a claim, with how many there are.
select c.phrase, c.wording, c.subject_kind, c.object_kind,
       case when c.object is not null then 'thing'
            when c.value_number is not null or c.value_type = 'bool' then 'number' else 'text' end as form,
       count(*) as claims
from claims c join chunks k on k.kb_id = c.kb_id and k.id = c.chunk_id
where c.kb_id = %(kb_id)s and c.mood is null and [[held k]]
group by 1, 2, 3, 4, 5

-- name: bindings_examples
-- Up to `most` claims for each of these phrases as they are spelled, in reading order.
select e.* from unnest(%(phrases)s::text[]) as asked (phrase)
cross join lateral (
    select c.id, c.phrase, c.wording, c.subject, coalesce(c.object, c.value_raw) as object, c.quote, k.document_id,
           c.chunk_id, v.filename
    from claims c
    join chunks k on k.kb_id = c.kb_id and k.id = c.chunk_id
    join document_versions v on v.kb_id = k.kb_id and v.id = k.version_id
    where c.kb_id = %(kb_id)s and c.phrase = asked.phrase and c.mood is null and [[held k]]
    order by k.document_id, k.position, c.ordinal limit %(most)s) e

-- name: mark_of_phrase_bindings
select concat_ws('.', count(*), max(b.recorded_seq), max(b.invalidated_seq)) as mark,
       count(*) filter (where b.invalidated_seq is null) as rows
from bindings b where b.kb_id = %(kb_id)s
