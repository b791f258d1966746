-- What an honest colleague would add to an answer: one query for each, as of today.

-- name: hints_of_answer
-- lint: axis, since it tells what became of rows later, not what was held.
-- For the facts shown, how each one ended and the row of its lineage that is held today; for the entities shown, what they
-- were joined into. For the entity asked about, as it is today: how
-- many proposals name it, how many triples about it were refused, and how many facts are held.
with me as (
    select coalesce(c.canonical_id, e.id) as id
    from entities e
    left join entity_canonical c on c.kb_id = e.kb_id and c.entity_id = e.id and c.invalidated_seq is null
    where e.kb_id = %(kb_id)s and e.id = %(entity_id)s::uuid
), members as materialized (
    select id as entity_id from me
    union
    select m.entity_id from me join entity_canonical m
      on m.kb_id = %(kb_id)s and m.canonical_id = me.id and m.invalidated_seq is null
)
select (select jsonb_object_agg(f.id, jsonb_build_object('kind', f.invalidated_kind, 'now', h.id))
        from facts f
        left join facts h on h.kb_id = f.kb_id and h.lineage_id = f.lineage_id and h.subject_id = f.subject_id
                         and h.invalidated_seq is null
        where f.kb_id = %(kb_id)s and f.id = any(%(gone)s::uuid[])) as ended,
       (select jsonb_object_agg(c.entity_id, c.canonical_id) from entity_canonical c
        where c.kb_id = %(kb_id)s and c.entity_id = any(%(entities)s::uuid[]) and c.invalidated_seq is null) as joined,
       (select count(*) from pending_facts p join claims c on c.kb_id = p.kb_id and c.id = p.claim_id
        where p.kb_id = %(kb_id)s and p.invalidated_seq is null
          and (lower(c.subject) = any(%(names)s::text[]) or lower(c.object) = any(%(names)s::text[]))) as pending,
       (select count(*) from refusals r
        where r.kb_id = %(kb_id)s and r.invalidated_seq is null
          and (r.subject_id in (select entity_id from members) or r.object_id in (select entity_id from members)))
           as refused,
       case when %(now)s then
           (select count(*) from facts f
            where f.kb_id = %(kb_id)s and f.invalidated_seq is null and f.subject_id in (select entity_id from members)
              and f.predicate_key is distinct from 'known_as')
         + (select count(*) from facts f
            where f.kb_id = %(kb_id)s and f.invalidated_seq is null and f.object_id in (select entity_id from members))
       else 0 end as held_now

-- name: hints_named_now
-- How many names of today contain this.
select count(distinct n.id) as named
from names_like(%(kb_id)s, %(patterns)s) n where n.invalidated_seq is null
