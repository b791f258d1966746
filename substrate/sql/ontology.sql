-- name: relations_in_use
-- Which of these relations have live assertions.
select distinct predicate_key from assertions
where kb_id = %(kb_id)s and predicate_key = any(%(keys)s) and invalidated_seq is null

-- name: uses_of_terms
-- What rests on these terms now, by kind of use; a term without a row of a kind has none of it.
select u.key, u.use, count(*) as uses from (
    select a.predicate_key as key, 'assertions' as use from assertions a
    where a.kb_id = %(kb_id)s and a.predicate_key = any(%(keys)s) and a.invalidated_seq is null
    union all
    select f.predicate_key, 'facts' from facts f
    where f.kb_id = %(kb_id)s and f.predicate_key = any(%(keys)s) and f.invalidated_seq is null
    union all
    select p.predicate_key, 'proposals' from pending_facts p
    where p.kb_id = %(kb_id)s and p.predicate_key = any(%(keys)s) and p.invalidated_seq is null
    union all
    select r.predicate_key, 'refusals' from refusals r
    where r.kb_id = %(kb_id)s and r.predicate_key = any(%(keys)s) and r.invalidated_seq is null
    union all
    select b.predicate_key, 'bindings' from bindings b
    where b.kb_id = %(kb_id)s and b.predicate_key = any(%(keys)s) and b.invalidated_seq is null and b.method = 'person'
    union all
    select t.type_key, 'entities' from (
        select y.type_key, y.entity_id from entity_types y
        where y.kb_id = %(kb_id)s and y.type_key = any(%(keys)s) and y.invalidated_seq is null
        union
        select h.type_key, h.entity_id from human_types h
        where h.kb_id = %(kb_id)s and h.type_key = any(%(keys)s) and h.invalidated_seq is null
    ) t
) u
group by u.key, u.use

-- name: phrases_asserted
-- The phrases of claims that live assertions rest on, with what they were bound to.
select a.phrase, a.predicate_key, count(*) as assertions from assertions a
where a.kb_id = %(kb_id)s and a.claim_id is not null and a.invalidated_seq is null
group by a.phrase, a.predicate_key

-- name: planned_so
-- How statements of this transaction are planned from here on; returns how they were.
select current_setting('plan_cache_mode') as was, set_config('plan_cache_mode', %(mode)s, true) as now

-- name: keep_plan
-- The same plan made twice is one row.
insert into ontology_plans (kb_id, id, source, source_name, mode, wanted, shown, made_by)
values (%(kb_id)s, %(id)s, %(source)s, %(source_name)s, %(mode)s, %(wanted)s, %(shown)s, %(made_by)s)
on conflict (kb_id, id) do update set made_at = clock_timestamp(), made_by = excluded.made_by, applied_seq = null

-- name: forget_plans
-- Plans that nobody applied, but for the newest.
delete from ontology_plans p
where p.kb_id = %(kb_id)s and p.applied_seq is null and p.id not in (
    select n.id from ontology_plans n where n.kb_id = %(kb_id)s and n.applied_seq is null order by n.made_at desc limit %(keep)s)

-- name: plan_of_id
-- By its id or by a beginning of it that no other plan has.
select p.id, p.source_name, p.mode, p.wanted, p.shown, p.made_by, p.made_at, p.applied_seq, count(*) over () as alike
from ontology_plans p where p.kb_id = %(kb_id)s and p.id like %(id)s || '%%' limit 1

-- name: plan_applied
update ontology_plans set applied_seq = %(seq)s where kb_id = %(kb_id)s and id = %(id)s

-- name: list_plans
select p.id, p.source_name, p.mode, p.made_by, p.made_at, p.applied_seq from ontology_plans p
where p.kb_id = %(kb_id)s order by p.made_at desc, p.id limit %(limit)s

-- name: entities_of_disjoint_classes
-- Entities that are of two classes declared disjoint: by what they are said to be, members of a merge included, and by
-- the ends of the relations they bear. `pairs`, `sides` and `keys` list each class beneath either side of each pair.
with side as materialized (
    select * from unnest(%(pairs)s::integer[], %(sides)s::boolean[], %(keys)s::text[]) as s (pair, is_left, key)
), ends as materialized (
    select * from unnest(%(predicates)s::text[], %(subjects)s::boolean[], %(classes)s::text[]) as e (predicate, is_subject, key)
), spoken as (
    select h.entity_id, h.type_key as key, 'said to be' as by from human_types h
    where h.kb_id = %(kb_id)s and h.invalidated_seq is null and h.type_key in (select key from side)
    union
    select y.entity_id, y.type_key, 'said to be' from entity_types y
    where y.kb_id = %(kb_id)s and y.invalidated_seq is null and y.type_key in (select key from side)
      and not exists (select from human_types h
                      where h.kb_id = y.kb_id and h.entity_id = y.entity_id and h.invalidated_seq is null)
    union
    select f.subject_id, e.key, f.predicate_key from facts f join ends e on e.predicate = f.predicate_key and e.is_subject
    where f.kb_id = %(kb_id)s and f.invalidated_seq is null
    union
    select f.object_id, e.key, f.predicate_key from facts f join ends e on e.predicate = f.predicate_key and not e.is_subject
    where f.kb_id = %(kb_id)s and f.invalidated_seq is null and f.object_id is not null
), sided as (
    select coalesce(c.canonical_id, s.entity_id) as id, p.pair, p.is_left, min(s.key) as key, min(s.by) as by
    from spoken s join side p on p.key = s.key
    left join entity_canonical c on c.kb_id = %(kb_id)s and c.entity_id = s.entity_id and c.invalidated_seq is null
    group by 1, 2, 3
)
select l.id, e.label, l.pair, l.key as left_key, l.by as left_by, r.key as right_key, r.by as right_by,
       count(*) over () as total
from sided l
join sided r on r.id = l.id and r.pair = l.pair and l.is_left and not r.is_left
join entities e on e.kb_id = %(kb_id)s and e.id = l.id
order by e.label, l.id, l.pair limit %(limit)s

-- name: waivers_held
select w.id, w.code, w.fingerprint, w.why, w.recorded_seq, w.recorded_at from defect_waivers w
where w.kb_id = %(kb_id)s and w.invalidated_seq is null

-- name: stale_terms
-- Held terms without a vector of this model made of the words they have now.
select t.key, t.kind, term_words(t.definition) as words from ontology_terms t
where t.kb_id = %(kb_id)s and t.invalidated_seq is null
  and not exists (select from term_vectors v where v.kb_id = t.kb_id and v.model = %(model)s and v.term_key = t.key
                  and v.words = term_words(t.definition))
order by t.key limit %(limit)s

-- name: keep_term_vector
insert into term_vectors (kb_id, term_key, model, words, embedding)
values (%(kb_id)s, %(term_key)s, %(model)s, %(words)s, %(embedding)s)
on conflict (kb_id, model, term_key) do update set words = excluded.words, embedding = excluded.embedding

-- name: forget_term_vectors
-- Of terms that are held no more, and of models that are not in use.
delete from term_vectors v where v.kb_id = %(kb_id)s and (v.model <> %(model)s or not exists (
    select from ontology_terms t where t.kb_id = v.kb_id and t.key = v.term_key and t.invalidated_seq is null))

-- name: marks_of_terms
select k.slug, count(*) || ':' || max(t.recorded_seq) || ':' || coalesce(max(t.invalidated_seq), 0) as mark
from ontology_terms t join kb k on k.id = t.kb_id group by k.slug order by k.slug

-- name: nearest_terms
-- The terms of these kinds that are nearest to a vector. A vector of other words than the term has now says nothing of
-- it: such terms are counted and not ranked.
with judged as (
    select t.key, t.kind, t.definition, v.embedding, v.words is not distinct from term_words(t.definition) as fresh
    from ontology_terms t
    left join term_vectors v on v.kb_id = t.kb_id and v.model = %(model)s and v.term_key = t.key
    where t.kb_id = %(kb_id)s and t.invalidated_seq is null and t.kind = any(%(kinds)s)
), counted as (
    select count(*) as terms, count(*) filter (where not j.fresh) as stale from judged j
)
select c.terms, c.stale, n.key, n.kind, n.label, n.score
from counted c left join lateral (
    select j.key, j.kind, j.definition ->> 'label' as label, 1 - (j.embedding <=> %(vector)s::vector) as score
    from judged j where j.fresh order by j.embedding <=> %(vector)s::vector, j.key limit %(limit)s
) n on true
order by n.score desc nulls last, n.key

-- name: entities_of_classes
-- Entities whose class is one of these at a moment of the record: a person's word before a guess, as everywhere.
with members as (
    select coalesce(c.canonical_id, t.entity_id) as id, t.entity_id from (
        select h.entity_id from human_types h where h.kb_id = %(kb_id)s and [[held h]]
        union
        select y.entity_id from entity_types y where y.kb_id = %(kb_id)s and [[held y]]
    ) t
    left join entity_canonical c on c.kb_id = %(kb_id)s and c.entity_id = t.entity_id and [[held c]]
), ranked as (
    select distinct on (m.id) m.id, w.type_key from members m
    join lateral (
        select h.type_key, 0 as rank, false as other, -h.recorded_seq as place from human_types h
        where h.kb_id = %(kb_id)s and h.entity_id = m.entity_id and [[held h]]
        union all
        select y.type_key, case y.source when 'human' then 0 when 'inferred' then 1 else 2 end, y.entity_id <> m.id,
               y.recorded_seq
        from entity_types y where y.kb_id = %(kb_id)s and y.entity_id = m.entity_id and [[held y]]
    ) w on true
    order by m.id, w.rank, w.other, w.place, w.type_key
)
select r.id, e.label, r.type_key, count(*) over () as total
from ranked r join entities e on e.kb_id = %(kb_id)s and e.id = r.id
where r.type_key = any(%(keys)s)
order by e.label, r.id limit %(limit)s
