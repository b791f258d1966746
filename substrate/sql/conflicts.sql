-- Conflicts between statements, and what people said of periods.

-- name: conflicts_of_subjects
-- Conflicts that touch one of these subjects on either side: open ones, and those decided by a verdict that still
-- counts, which is one that nobody took back.
select c.* from conflicts c
where c.kb_id = %(kb_id)s and (c.old_subject_id = any(%(ids)s) or c.new_subject_id = any(%(ids)s))
  and (c.invalidated_seq is null
       or (c.verdict in ('closed', 'kept_both')
           and not exists (select from conflicts r where r.kb_id = c.kb_id and r.reopens = c.id)))

-- name: decide_conflicts
update conflicts set invalidated_seq = %(seq)s, invalidated_at = %(at)s, verdict = %(verdict)s,
       decided_by = %(by)s, why = %(why)s
where kb_id = %(kb_id)s and id = any(%(ids)s) and invalidated_seq is null

-- name: corrections_of_assertions
-- People's words on periods, with where the fact stood that each was about.
select c.assertion_id, c.kind, c.fixes_start, c.fixes_end, c.seen, f.holds_from, f.holds_to, f.undated
from corrections c join facts f on f.kb_id = c.kb_id and f.id = c.fact_id
where c.kb_id = %(kb_id)s and c.assertion_id = any(%(ids)s) and c.invalidated_seq is null

-- name: held_correction
select c.*, a.subject_id, a.predicate_key, a.phrase, a.object_id, a.value_norm from corrections c
join assertions a on a.kb_id = c.kb_id and a.id = c.assertion_id and a.invalidated_seq is null
where c.kb_id = %(kb_id)s and c.id = %(id)s and c.invalidated_seq is null

-- name: correction_of_conflict
select c.*, a.subject_id, a.predicate_key, a.phrase, a.object_id, a.value_norm from corrections c
join assertions a on a.kb_id = c.kb_id and a.id = c.assertion_id and a.invalidated_seq is null
where c.kb_id = %(kb_id)s and c.conflict_id = %(id)s and c.invalidated_seq is null

-- name: conflict_by_id
select c.*, exists (select from conflicts r where r.kb_id = c.kb_id and r.reopens = c.id) as reopened
from conflicts c where c.kb_id = %(kb_id)s and c.id = %(id)s

-- name: held_fact_of_lineage
select f.* from facts f where f.kb_id = %(kb_id)s and f.lineage_id = %(id)s and f.invalidated_seq is null

-- name: assertions_under_lineage
-- The statements that a fact rests on now.
select a.* from evidence v join assertions a on a.kb_id = v.kb_id and a.id = v.assertion_id
where v.kb_id = %(kb_id)s and v.lineage_id = %(id)s and v.invalidated_seq is null and a.invalidated_seq is null

-- name: assertions_by_id
select a.* from assertions a where a.kb_id = %(kb_id)s and a.id = any(%(ids)s) and a.invalidated_seq is null

-- name: lineage_of_fact
select lineage_id from facts where kb_id = %(kb_id)s and id = %(id)s

-- name: refusals_made_with
-- Refusals in force of one triple that one transaction made.
select r.id from refusals r
where r.kb_id = %(kb_id)s and r.recorded_seq = %(seq)s and r.subject_id = %(subject_id)s
  and r.object_id is not distinct from %(object_id)s::uuid and r.value_norm is not distinct from %(value_norm)s::text
  and r.phrase = %(phrase)s and r.invalidated_seq is null

-- name: reads_conflicts
-- Conflicts that waited at the moment, or were decided by then (`decided`), oldest first, with both sides as they stood
-- then: the fact, where it is held still, and the statement that the side shows.
with wanted as (
    select c.* from conflicts c
    where c.kb_id = %(kb_id)s and [[recorded c]]
      and case when %(decided)s then not [[held c]] else [[held c]] end
      and (%(lineages)s::uuid[] is null or c.old_lineage_id = any(%(lineages)s) or c.new_lineage_id = any(%(lineages)s))
), page as (
    select w.* from wanted w order by w.recorded_seq, w.id limit %(limit)s offset %(offset)s
), sides as (
    select p.id, 'old' as side, p.old_lineage_id as lineage_id, p.old_subject_id as subject_id,
           p.old_object_id as object_id, p.old_value_norm as value_norm, p.old_assertion_id as assertion_id from page p
    union all
    select p.id, 'new', p.new_lineage_id, p.new_subject_id, p.new_object_id, p.new_value_norm, p.new_assertion_id
    from page p
)
select totals.total, p.*, z.side, z.subject_id, z.object_id, z.value_norm, z.lineage_id, z.assertion_id,
       s.label as subject, o.label as object, f.id as fact_id, f.value_raw, f.value_number, f.value_unit, f.value_type,
       f.valid_from, f.valid_from_precision, f.valid_to, f.valid_to_precision, f.valid_to_origin, f.undated,
       f.attested_from, a.quote, a.wording, a.origin, a.document_id, a.attested_at, d.filename, t.recorded_at as decided_at,
       coalesce(term.definition ->> 'label', p.predicate_key, p.phrase) as predicate_label,
       exists (select from conflicts r where r.kb_id = p.kb_id and r.reopens = p.id and [[recorded r]]) as reverted
from (select count(*) as total from wanted) totals
left join page p on true
left join sides z on z.id = p.id
left join entities s on s.kb_id = p.kb_id and s.id = z.subject_id
left join entities o on o.kb_id = p.kb_id and o.id = z.object_id
left join facts f on f.kb_id = p.kb_id and f.lineage_id = z.lineage_id and [[held f]]
left join assertions a on a.kb_id = p.kb_id and a.id = z.assertion_id
left join document_versions d on d.kb_id = a.kb_id and d.id = a.version_id
left join ledger_transaction t on t.kb_id = p.kb_id and t.seq = p.invalidated_seq
left join ontology_terms term on term.kb_id = p.kb_id and term.key = p.predicate_key and [[held term]]
order by p.recorded_seq, p.id, z.side desc

-- name: reads_contested
-- The open conflicts that facts of these lineages stand in.
select x.lineage_id, c.id, c.reason, x.side
from conflicts c
cross join lateral (values (c.old_lineage_id, 'old'), (c.new_lineage_id, 'new')) x (lineage_id, side)
where c.kb_id = %(kb_id)s and [[held c]] and x.lineage_id = any(%(lineages)s)
  and (c.old_lineage_id = any(%(lineages)s) or c.new_lineage_id = any(%(lineages)s))
order by c.recorded_seq, c.id, x.side desc

-- name: reads_corrections
-- People's words on periods in force at the moment, newest first; not those that went with a rejected fact.
with wanted as (
    select c.* from corrections c where c.kb_id = %(kb_id)s and [[held c]]
      and exists (select from assertions a where a.kb_id = c.kb_id and a.id = c.assertion_id and [[held a]])
      and (%(fact_id)s::uuid is null or c.fact_id in (
               select f.id from facts f join facts g on g.kb_id = f.kb_id and g.lineage_id = f.lineage_id
               where g.kb_id = %(kb_id)s and g.id = %(fact_id)s))
)
select totals.total, p.*, f.lineage_id, f.predicate_key, s.label as subject, o.label as object, f.value_raw,
       f.value_norm, f.value_number, f.value_unit, f.value_type, a.stated_from as valid_from,
       a.stated_from_precision as valid_from_precision, a.stated_to as valid_to, a.stated_to_precision as valid_to_precision,
       f.valid_from as was_from, f.valid_from_precision as was_from_precision, f.valid_to as was_to,
       f.valid_to_precision as was_to_precision, t.actor, t.via,
       coalesce(term.definition ->> 'label', f.predicate_key, f.phrase) as predicate_label
from (select count(*) as total from wanted) totals
left join (select * from wanted order by recorded_seq desc, id limit %(limit)s offset %(offset)s) p on true
left join facts f on f.kb_id = p.kb_id and f.id = p.fact_id
left join assertions a on a.kb_id = p.kb_id and a.id = p.assertion_id
left join entities s on s.kb_id = f.kb_id and s.id = f.subject_id
left join entities o on o.kb_id = f.kb_id and o.id = f.object_id
left join ledger_transaction t on t.kb_id = p.kb_id and t.seq = p.recorded_seq
left join ontology_terms term on term.kb_id = f.kb_id and term.key = f.predicate_key and [[held term]]
order by p.recorded_seq desc, p.id
