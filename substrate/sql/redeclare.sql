-- A whole relation at once, for a declaration that comes late. Ends are canonical ids, or values behind a "=".

-- name: fact_times_of_relation
select coalesce(cs.canonical_id, f.subject_id)::text as subject,
       coalesce(coalesce(co.canonical_id, f.object_id)::text, '=' || f.value_norm) as object,
       f.id::text, f.lineage_id::text, f.recorded_seq, f.temporal, f.valid_from, f.valid_from_precision, f.valid_to,
       f.valid_to_precision, f.valid_to_origin, f.attested_from, f.attested_to, f.holds_from, f.holds_to, f.undated
from facts f
left join entity_canonical cs on cs.kb_id = f.kb_id and cs.entity_id = f.subject_id and cs.invalidated_seq is null
left join entity_canonical co on co.kb_id = f.kb_id and co.entity_id = f.object_id and co.invalidated_seq is null
where f.kb_id = %(kb_id)s and f.predicate_key = %(relation)s and f.invalidated_seq is null

-- name: assertion_times_of_relation
-- What counts of it: live, and not withheld. `replaces` is the canonical id or the value that "B, not A" names.
select coalesce(cs.canonical_id, a.subject_id)::text as subject,
       coalesce(coalesce(co.canonical_id, a.object_id)::text, '=' || a.value_norm) as object,
       v.lineage_id::text, a.id::text,
       case when a.replaces is null or a.replaces like '=%%' then a.replaces
            else coalesce((select c.canonical_id::text from entity_canonical c
                           where c.kb_id = a.kb_id and c.entity_id::text = a.replaces and c.invalidated_seq is null),
                          a.replaces) end as replaces,
       a.origin = 'person' as person, a.recorded_seq, a.grade, a.stated_from, a.stated_from_precision, a.stated_to,
       a.stated_to_precision, a.at_event, a.attested_at, a.denies, a.corrects
from assertions a
left join entity_canonical cs on cs.kb_id = a.kb_id and cs.entity_id = a.subject_id and cs.invalidated_seq is null
left join entity_canonical co on co.kb_id = a.kb_id and co.entity_id = a.object_id and co.invalidated_seq is null
left join evidence v on v.kb_id = a.kb_id and v.assertion_id = a.id and v.invalidated_seq is null
left join withheld w on w.kb_id = a.kb_id and w.assertion_id = a.id and w.invalidated_seq is null
where a.kb_id = %(kb_id)s and a.predicate_key = %(relation)s and a.invalidated_seq is null and w.id is null

-- name: corrections_of_relation
select c.assertion_id, c.kind, c.fixes_start, c.fixes_end, c.seen, f.holds_from, f.holds_to, f.undated
from corrections c join facts f on f.kb_id = c.kb_id and f.id = c.fact_id
where c.kb_id = %(kb_id)s and f.predicate_key = %(relation)s and c.invalidated_seq is null

-- name: conflicts_of_relation
-- Open, or decided by a verdict that still counts.
select c.id, c.reason, c.verdict, c.old_said, c.old_lineage_id, c.new_said, c.new_lineage_id,
       coalesce(os.canonical_id, c.old_subject_id)::text || e'\x1f' || c.predicate_key || e'\x1f'
           || coalesce(coalesce(oo.canonical_id, c.old_object_id)::text, '=' || c.old_value_norm) as old_triple,
       coalesce(ns.canonical_id, c.new_subject_id)::text || e'\x1f' || c.predicate_key || e'\x1f'
           || coalesce(coalesce(no.canonical_id, c.new_object_id)::text, '=' || c.new_value_norm) as new_triple
from conflicts c
left join entity_canonical os on os.kb_id = c.kb_id and os.entity_id = c.old_subject_id and os.invalidated_seq is null
left join entity_canonical oo on oo.kb_id = c.kb_id and oo.entity_id = c.old_object_id and oo.invalidated_seq is null
left join entity_canonical ns on ns.kb_id = c.kb_id and ns.entity_id = c.new_subject_id and ns.invalidated_seq is null
left join entity_canonical no on no.kb_id = c.kb_id and no.entity_id = c.new_object_id and no.invalidated_seq is null
where c.kb_id = %(kb_id)s and c.predicate_key = %(relation)s
  and (c.invalidated_seq is null
       or (c.verdict in ('closed', 'kept_both')
           and not exists (select from conflicts r where r.kb_id = c.kb_id and r.reopens = c.id)))

-- name: triples_of_relation
-- Each triple that live assertions state, once, on the ids it was written with; `corrects` if one of them corrects.
select a.subject_id, a.predicate_key, min(a.phrase) as phrase, a.object_id, a.value_norm, bool_or(a.corrects) as corrects
from assertions a
where a.kb_id = %(kb_id)s and a.predicate_key = %(relation)s and a.invalidated_seq is null
group by a.subject_id, a.predicate_key, a.object_id, a.value_norm

-- name: count_facts_of_relation
select count(*) as facts from facts f
where f.kb_id = %(kb_id)s and f.predicate_key = %(relation)s and f.invalidated_seq is null

-- name: reads_unique_candidates
-- Of every state relation in use, on each side: how many ends bear it, how many bear more than one value, how many facts
-- would be ended by a later start were it unique there, and how many would wait for a person since no start tells.
with used as (
    select f.predicate_key as relation, coalesce(cs.canonical_id, f.subject_id) as subject,
           coalesce(coalesce(co.canonical_id, f.object_id)::text, '=' || f.value_norm) as object,
           f.object_id is not null as linked, coalesce(f.valid_from, f.attested_from) as opens, f.valid_to_precision, f.valid_to,
           f.undated
    from facts f
    left join entity_canonical cs on cs.kb_id = f.kb_id and cs.entity_id = f.subject_id and [[held cs]]
    left join entity_canonical co on co.kb_id = f.kb_id and co.entity_id = f.object_id and [[held co]]
    where f.kb_id = %(kb_id)s and f.predicate_key <> 'known_as' and f.temporal = 'state' and [[held f]]
), sided as (
    select u.relation, 'functional' as side, u.subject::text as holder, u.object as value, u.opens, u.valid_to_precision,
           u.valid_to, u.undated
    from used u
    union all
    select u.relation, 'inverse_functional', u.object, u.subject::text, u.opens, u.valid_to_precision, u.valid_to, u.undated
    from used u where u.linked
), judged as (
    select s.*, max(s.opens) over whole as last, min(s.value) over whole <> max(s.value) over whole as several,
           lag(s.value) over ranked is distinct from s.value and lag(s.value) over ranked is not null as follows,
           lag(s.opens) over ranked as before, lag(s.valid_to) over ranked as before_to
    from sided s
    window whole as (partition by s.relation, s.side, s.holder), ranked as (whole order by s.opens nulls last, s.value)
)
select j.relation, j.side, count(*) as facts, count(distinct j.holder) as holders,
       count(distinct j.holder) filter (where j.several) as with_several,
       count(*) filter (where j.several and j.valid_to_precision is null and j.opens < j.last) as would_close,
       count(*) filter (where j.follows and (j.undated or j.opens = j.before or j.before_to > j.opens)) as would_review,
       coalesce(term.definition ->> 'label', j.relation) as label,
       coalesce((term.definition ->> j.side)::boolean, false) as declared
from judged j
left join ontology_terms term on term.kb_id = %(kb_id)s and term.key = j.relation and [[held term]]
group by j.relation, j.side, term.definition
order by j.relation, j.side
