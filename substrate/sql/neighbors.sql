-- One hop from an entity, and the chains between two.

-- name: neighbors_of
-- lint: axis, since it tells what became of a row later, not what was held.
-- Facts between a cluster and other entities that hold, one page, the relation with most of them first; with the totals
-- and the relations there are on every row (a row without id when none match).
with recursive mine as materialized (
    select f.*, 'out' as direction, f.object_id as other
    from facts f
    where f.kb_id = %(kb_id)s and f.subject_id = any(%(members)s) and [[held f]] and [[holds f]]
      and f.object_id is not null and not f.object_id = any(%(members)s)
    union all
    select f.*, 'in', f.subject_id
    from facts f
    where f.kb_id = %(kb_id)s and f.object_id = any(%(members)s) and [[held f]] and [[holds f]]
      and not f.subject_id = any(%(members)s)
), terms as materialized (
    select t.key, coalesce(t.definition ->> 'label', t.key) as label, t.definition -> 'aliases' as aliases,
           t.definition -> 'parents' as parents
    from ontology_terms t where t.kb_id = %(kb_id)s and [[held t]]
), beneath as (                                -- the class that is asked for, and every class under it
    select t.key from terms t
    where replace(lower(t.key), '_', ' ') = %(object_type)s or lower(t.label) = %(object_type)s
    union
    select t.key from terms t join beneath b on t.parents ? b.key
), seen as not materialized (
    select m.*, term.key is null as inferred, coalesce(term.label, m.predicate_key, m.phrase) as label, term.aliases,
           coalesce((select c.canonical_id from entity_canonical c
                     where c.kb_id = %(kb_id)s and c.entity_id = m.other and [[held c]]), m.other) as other_id
    from mine m left join terms term on term.key = m.predicate_key
), matched as materialized (
    select s.* from seen s
    where (%(predicate)s::text is null
           or strpos(replace(lower(coalesce(s.predicate_key, '')), '_', ' '), %(predicate)s) > 0
           or strpos(lower(s.label), %(predicate)s) > 0 or strpos(lower(s.phrase), %(predicate)s) > 0
           or coalesce(s.aliases, '[]') ? %(predicate)s)
      and (%(object_type)s::text is null or exists (
               select from (
                   select array(select s.other_id union all
                                select m.entity_id from entity_canonical m
                                where m.kb_id = %(kb_id)s and m.canonical_id = s.other_id and [[held m]]) as members
               ) cluster
               cross join lateral (
                   select w.type_key from (
                       select h.type_key, 0 as rank, false as other, -h.recorded_seq as place from human_types h
                       where h.kb_id = %(kb_id)s and h.entity_id = any(cluster.members) and [[held h]]
                       union all
                       select y.type_key, case y.source when 'human' then 0 when 'inferred' then 1 else 2 end,
                              y.entity_id <> s.other_id, y.recorded_seq
                       from entity_types y where y.kb_id = %(kb_id)s and y.entity_id = any(cluster.members) and [[held y]]
                   ) w
                   order by w.rank, w.other, w.place, w.type_key limit 1
               ) y
               where replace(lower(y.type_key), '_', ' ') = %(object_type)s
                  or y.type_key in (select b.key from beneath b)))
), page as materialized (
    select m.*, count(*) over (partition by coalesce(m.predicate_key, m.phrase), m.direction) as alike from matched m
), placed as materialized (
    select p.*, row_number() over (order by p.alike desc, coalesce(p.predicate_key, p.phrase), p.direction,
                                            p.holds_from nulls first, p.recorded_seq, p.id) as place
    from page p order by place limit %(limit)s offset %(offset)s
)
select totals.*, p.id, p.lineage_id, p.direction, p.predicate_key, p.phrase, p.label, p.inferred, p.temporal,
       p.value_raw, p.value_norm, p.value_number, p.value_unit, p.value_type, p.confidence,
       nullif(p.qualifiers, '[]') as qualifiers,
       p.valid_from, p.valid_from_precision, p.valid_to, p.valid_to_precision, p.valid_to_origin,
       p.holds_from, p.holds_to, p.undated, p.attested_from, p.attested_to, p.grade, p.recorded_at, p.recorded_seq,
       p.supersedes, p.other_id,
       p.invalidated_at as since_invalidated_at, p.invalidated_kind as since_kind,
       case when p.invalidated_seq is not null then (
           select s.id from facts s
           where s.kb_id = %(kb_id)s and s.supersedes = p.id and s.recorded_seq = p.invalidated_seq
           order by s.id limit 1) end as since_superseded_by
from (
    select (select count(*) from matched) as matched,
           (select jsonb_agg(jsonb_build_object('predicate_key', g.predicate_key, 'predicate_label', g.label,
                                                'direction', g.direction, 'count', g.n)
                             order by g.n desc, g.place, g.direction)
            from (select s.predicate_key, min(s.label) as label, s.direction, count(*) as n,
                         coalesce(s.predicate_key, s.phrase) as place
                  from matched s group by s.predicate_key, coalesce(s.predicate_key, s.phrase), s.direction) g) as groups
) totals
left join placed p on true
order by p.place

-- name: neighbors_types
-- The class of each of these clusters: what a person said last, else what was inferred, else extracted.
select i.id, y.type_key, coalesce(term.definition ->> 'label', y.type_key) as type_label
from unnest(%(ids)s::uuid[]) as i (id)
cross join lateral (
    select array(select i.id union all
                 select m.entity_id from entity_canonical m
                 where m.kb_id = %(kb_id)s and m.canonical_id = i.id and [[held m]]) as members
) cluster
cross join lateral (
    select w.type_key from (
        select h.type_key, 0 as rank, false as other, -h.recorded_seq as place from human_types h
        where h.kb_id = %(kb_id)s and h.entity_id = any(cluster.members) and [[held h]]
        union all
        select y.type_key, case y.source when 'human' then 0 when 'inferred' then 1 else 2 end, y.entity_id <> i.id,
               y.recorded_seq
        from entity_types y where y.kb_id = %(kb_id)s and y.entity_id = any(cluster.members) and [[held y]]
    ) w
    order by w.rank, w.other, w.place, w.type_key limit 1
) y
left join ontology_terms term on term.kb_id = %(kb_id)s and term.key = y.type_key and [[held term]]

-- name: paths_edges
-- Facts that hold and lead from each of these clusters to another one, at most `most` of each, with how many there are up
-- to that; only those that lead to one of `targets`, where it is given.
select n.id as near, e.far, e.id, e.direction, e.confidence, coalesce(e.predicate_key, e.phrase) as predicate, e.degree
from unnest(%(nodes)s::uuid[]) as n (id)
cross join lateral (
    select array(select n.id union all
                 select m.entity_id from entity_canonical m
                 where m.kb_id = %(kb_id)s and m.canonical_id = n.id and [[held m]]) as members
) c
cross join lateral (
    select x.*, count(*) over () as degree,
           coalesce((select k.canonical_id from entity_canonical k
                     where k.kb_id = %(kb_id)s and k.entity_id = x.other and [[held k]]), x.other) as far
    from (
        select f.id, f.predicate_key, f.phrase, f.confidence, 'out' as direction, f.object_id as other
        from facts f
        where f.kb_id = %(kb_id)s and f.subject_id = any(c.members) and f.object_id is not null
          and [[held f]] and [[holds f]] and not f.object_id = any(c.members)
        union all
        select f.id, f.predicate_key, f.phrase, f.confidence, 'in', f.subject_id
        from facts f
        where f.kb_id = %(kb_id)s and f.object_id = any(c.members)
          and [[held f]] and [[holds f]] and not f.subject_id = any(c.members)
        order by id limit %(most)s
    ) x
) e
where %(targets)s::uuid[] is null or e.far = any(%(targets)s::uuid[])
order by n.id, e.id

-- name: paths_degrees
-- How many facts that hold touch each of these clusters, counted up to `most`.
select n.id, e.degree
from unnest(%(nodes)s::uuid[]) as n (id)
cross join lateral (
    select array(select n.id union all
                 select m.entity_id from entity_canonical m
                 where m.kb_id = %(kb_id)s and m.canonical_id = n.id and [[held m]]) as members
) c
cross join lateral (
    select count(*) as degree from (
        select f.id from facts f
        where f.kb_id = %(kb_id)s and f.subject_id = any(c.members) and f.object_id is not null
          and [[held f]] and [[holds f]] and not f.object_id = any(c.members)
        union all
        select f.id from facts f
        where f.kb_id = %(kb_id)s and f.object_id = any(c.members)
          and [[held f]] and [[holds f]] and not f.subject_id = any(c.members)
        limit %(most)s
    ) x
) e

-- name: paths_facts
-- lint: axis, since it tells what became of a row later, not what was held.
-- Facts by their ids, told from the side of their subject.
select f.id, f.lineage_id, 'out' as direction, f.predicate_key, f.phrase,
       coalesce(term.definition ->> 'label', f.predicate_key, f.phrase) as label, term.key is null as inferred,
       f.temporal, f.value_raw, f.value_norm, f.value_number, f.value_unit, f.value_type, f.confidence,
       nullif(f.qualifiers, '[]') as qualifiers,
       f.valid_from, f.valid_from_precision, f.valid_to, f.valid_to_precision, f.valid_to_origin,
       f.holds_from, f.holds_to, f.undated, f.attested_from, f.attested_to, f.grade, f.recorded_at, f.recorded_seq,
       f.supersedes,
       coalesce((select c.canonical_id from entity_canonical c
                 where c.kb_id = %(kb_id)s and c.entity_id = f.subject_id and [[held c]]), f.subject_id) as subject_id,
       coalesce((select c.canonical_id from entity_canonical c
                 where c.kb_id = %(kb_id)s and c.entity_id = f.object_id and [[held c]]), f.object_id) as other_id,
       f.invalidated_at as since_invalidated_at, f.invalidated_kind as since_kind,
       case when f.invalidated_seq is not null then (
           select s.id from facts s
           where s.kb_id = %(kb_id)s and s.supersedes = f.id and s.recorded_seq = f.invalidated_seq
           order by s.id limit 1) end as since_superseded_by
from facts f
left join ontology_terms term on term.kb_id = f.kb_id and term.key = f.predicate_key and [[held term]]
where f.kb_id = %(kb_id)s and f.id = any(%(ids)s::uuid[])
