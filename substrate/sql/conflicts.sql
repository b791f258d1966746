-- Conflicts between statements, and what people said of periods.

-- name: any_conflict
select 1 as one from conflicts where kb_id = %(kb_id)s limit 1

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
