-- The state of a base as rows: which there are, which came and which went. A row's key is (recorded_seq, kind, id), and
-- pages go by it, so that a page costs what it shows. A point is a sequence number with, for facts, a bucket of the world
-- (null: any); `a` is the earlier point, -1 for "before everything", and a snapshot is what came since then.

-- name: state_keys_of_base
-- lint: axis, since it compares two points of the record clock.
-- Rows there at `b` and not at `a` (came), and the reverse. A fact is there where it is held and holds in the bucket.
-- Closed facts are found first and by their closing: looked for in the order of pages, a narrow window reads them all.
with closed as materialized (
    select f.id, f.recorded_seq, f.holds_from, f.holds_to from facts f
    where f.kb_id = %(kb_id)s and f.invalidated_seq > %(a)s and f.invalidated_seq <= %(b)s and %(a)s::bigint >= 0
)
(select 'entity' as kind, e.id, e.recorded_seq, true as came from entities e
 where e.kb_id = %(kb_id)s and e.recorded_seq > %(a)s and e.recorded_seq <= %(b)s and e.recorded_seq >= %(after_seq)s
   and (e.recorded_seq, 'entity', e.id) > (%(after_seq)s, %(after_kind)s::text, %(after_id)s::uuid)
 order by e.recorded_seq, e.id limit %(limit)s)
union all
(select 'type', y.entity_id, y.recorded_seq, y.recorded_seq > %(a)s from entity_types y
 where y.kb_id = %(kb_id)s and y.recorded_seq >= %(after_seq)s
   and ((y.recorded_seq > %(a)s and y.recorded_seq <= %(b)s and (y.invalidated_seq is null or y.invalidated_seq > %(b)s))
        or (y.recorded_seq <= %(a)s and y.invalidated_seq > %(a)s and y.invalidated_seq <= %(b)s))
   and (y.recorded_seq, 'type', y.entity_id) > (%(after_seq)s, %(after_kind)s::text, %(after_id)s::uuid)
 order by y.recorded_seq, y.entity_id limit %(limit)s)
union all
(select 'type', h.id, h.recorded_seq, h.recorded_seq > %(a)s from human_types h
 where h.kb_id = %(kb_id)s and h.recorded_seq >= %(after_seq)s
   and ((h.recorded_seq > %(a)s and h.recorded_seq <= %(b)s and (h.invalidated_seq is null or h.invalidated_seq > %(b)s))
        or (h.recorded_seq <= %(a)s and h.invalidated_seq > %(a)s and h.invalidated_seq <= %(b)s))
   and (h.recorded_seq, 'type', h.id) > (%(after_seq)s, %(after_kind)s::text, %(after_id)s::uuid)
 order by h.recorded_seq, h.id limit %(limit)s)
union all
(select 'identity', c.entity_id, c.recorded_seq, c.recorded_seq > %(a)s from entity_canonical c
 where c.kb_id = %(kb_id)s and c.recorded_seq >= %(after_seq)s
   and ((c.recorded_seq > %(a)s and c.recorded_seq <= %(b)s and (c.invalidated_seq is null or c.invalidated_seq > %(b)s))
        or (c.recorded_seq <= %(a)s and c.invalidated_seq > %(a)s and c.invalidated_seq <= %(b)s))
   and (c.recorded_seq, 'identity', c.entity_id) > (%(after_seq)s, %(after_kind)s::text, %(after_id)s::uuid)
 order by c.recorded_seq, c.entity_id limit %(limit)s)
union all
(select 'refusal', r.id, r.recorded_seq, r.recorded_seq > %(a)s from refusals r
 where r.kb_id = %(kb_id)s and r.recorded_seq >= %(after_seq)s
   and ((r.recorded_seq > %(a)s and r.recorded_seq <= %(b)s and (r.invalidated_seq is null or r.invalidated_seq > %(b)s))
        or (r.recorded_seq <= %(a)s and r.invalidated_seq > %(a)s and r.invalidated_seq <= %(b)s))
   and (r.recorded_seq, 'refusal', r.id) > (%(after_seq)s, %(after_kind)s::text, %(after_id)s::uuid)
 order by r.recorded_seq, r.id limit %(limit)s)
union all
(select 'fact', f.id, f.recorded_seq, true from facts f
 where f.kb_id = %(kb_id)s and f.recorded_seq > %(a)s and f.recorded_seq <= %(b)s and f.recorded_seq >= %(after_seq)s
   and (f.invalidated_seq is null or f.invalidated_seq > %(b)s) and [[holds f]]
   and (f.recorded_seq, 'fact', f.id) > (%(after_seq)s, %(after_kind)s::text, %(after_id)s::uuid)
 order by f.recorded_seq, f.id limit %(limit)s)
union all
(select 'fact', f.id, f.recorded_seq, false from closed f
 where f.recorded_seq <= %(a)s and [[holds f]]
   and (f.recorded_seq, 'fact', f.id) > (%(after_seq)s, %(after_kind)s::text, %(after_id)s::uuid)
 order by f.recorded_seq, f.id limit %(limit)s)
order by recorded_seq, kind, id limit %(limit)s

-- name: state_keys_in_world
-- lint: axis, since it compares two points of the world clock.
-- Facts held that hold in the one bucket and not in the other: those of the later came, those of the earlier went.
select 'fact' as kind, f.id, f.recorded_seq, h.later as came
from facts f,
     lateral (select (f.holds_from is null or f.holds_from < %(end_a)s) and (f.holds_to is null or f.holds_to > %(start_a)s)
                     as earlier,
                     (f.holds_from is null or f.holds_from < %(end_b)s) and (f.holds_to is null or f.holds_to > %(start_b)s)
                     as later) h
where f.kb_id = %(kb_id)s and [[held f]] and h.earlier <> h.later and f.recorded_seq >= %(after_seq)s
  and (f.recorded_seq, 'fact', f.id) > (%(after_seq)s, %(after_kind)s::text, %(after_id)s::uuid)
order by f.recorded_seq, f.id limit %(limit)s

-- name: state_keys_of_entity
-- lint: axis, since it compares two points of either clock.
-- The same of one cluster, whose members may differ between the points; with `ever`, every row about the members of `b`
-- written by then, whatever became of it.
with found as (
    select 'entity' as kind, e.id, e.recorded_seq, null::bigint as invalidated_seq, e.id as one, null::uuid as other,
           null::timestamptz as holds_from, null::timestamptz as holds_to
    from entities e where e.kb_id = %(kb_id)s and e.id = any(%(members)s::uuid[])
    union all
    select 'type', y.entity_id, y.recorded_seq, y.invalidated_seq, y.entity_id, null, null, null
    from entity_types y where y.kb_id = %(kb_id)s and y.entity_id = any(%(members)s::uuid[])
    union all
    select 'type', h.id, h.recorded_seq, h.invalidated_seq, h.entity_id, null, null, null
    from human_types h where h.kb_id = %(kb_id)s and h.entity_id = any(%(members)s::uuid[])
    union all
    select 'identity', c.entity_id, c.recorded_seq, c.invalidated_seq, c.entity_id, c.canonical_id, null, null
    from entity_canonical c
    where c.kb_id = %(kb_id)s and (c.entity_id = any(%(members)s::uuid[]) or c.canonical_id = any(%(members)s::uuid[]))
    union all
    select 'refusal', r.id, r.recorded_seq, r.invalidated_seq, r.subject_id, r.object_id, null, null
    from refusals r
    where r.kb_id = %(kb_id)s and (r.subject_id = any(%(members)s::uuid[]) or r.object_id = any(%(members)s::uuid[]))
    union all
    select 'fact', f.id, f.recorded_seq, f.invalidated_seq, f.subject_id, f.object_id, f.holds_from, f.holds_to
    from facts f
    where f.kb_id = %(kb_id)s and (f.subject_id = any(%(members)s::uuid[]) or f.object_id = any(%(members)s::uuid[]))
), judged as (
    select k.*, (k.one = any(%(members_a)s::uuid[]) or coalesce(k.other = any(%(members_a)s::uuid[]), false))
                and k.recorded_seq <= %(a)s and (k.invalidated_seq is null or k.invalidated_seq > %(a)s)
                and (%(start_a)s::timestamptz is null
                     or ((k.holds_from is null or k.holds_from < %(end_a)s)
                         and (k.holds_to is null or k.holds_to > %(start_a)s))) as earlier,
           (k.one = any(%(members_b)s::uuid[]) or coalesce(k.other = any(%(members_b)s::uuid[]), false))
                and k.recorded_seq <= %(b)s and (%(ever)s or k.invalidated_seq is null or k.invalidated_seq > %(b)s)
                and (%(start_b)s::timestamptz is null
                     or ((k.holds_from is null or k.holds_from < %(end_b)s)
                         and (k.holds_to is null or k.holds_to > %(start_b)s))) as later
    from found k
)
select j.kind, j.id, j.recorded_seq, j.later as came from judged j
where j.earlier <> j.later and j.invalidated_seq is distinct from j.recorded_seq
  and (j.recorded_seq, j.kind, j.id) > (%(after_seq)s, %(after_kind)s::text, %(after_id)s::uuid)
order by j.recorded_seq, j.kind, j.id limit %(limit)s

-- name: state_keys_of_fact
-- Every row of a fact's lineage written by then, and every link to what it rests on. A lineage keeps its subject.
with line as (
    select f.lineage_id, f.subject_id from facts f where f.kb_id = %(kb_id)s and f.id = %(fact_id)s and [[recorded f]]
), found as (
    select 'fact' as kind, f.id, f.recorded_seq
    from line l join facts f on f.kb_id = %(kb_id)s and f.subject_id = l.subject_id and f.lineage_id = l.lineage_id
    where [[recorded f]]
    union all
    select 'evidence', v.assertion_id, v.recorded_seq
    from line l join evidence v on v.kb_id = %(kb_id)s and v.lineage_id = l.lineage_id
    where [[recorded v]]
)
select k.kind, k.id, k.recorded_seq, true as came from found k
where (k.recorded_seq, k.kind, k.id) > (%(after_seq)s, %(after_kind)s::text, %(after_id)s::uuid)
order by k.recorded_seq, k.kind, k.id limit %(limit)s

-- name: state_lineage
select f.lineage_id from facts f where f.kb_id = %(kb_id)s and f.id = %(fact_id)s and [[recorded f]]

-- name: state_facts
select f.* from facts f where f.kb_id = %(kb_id)s and f.id = any(%(ids)s::uuid[])

-- name: state_entities
select e.*, null::bigint as invalidated_seq, null::timestamptz as invalidated_at
from entities e where e.kb_id = %(kb_id)s and e.id = any(%(ids)s::uuid[])

-- name: state_types
-- A guess goes by its entity, a person's word by its own id.
select y.entity_id as id, y.entity_id, y.type_key, y.source, y.recorded_seq, y.recorded_at, y.invalidated_seq, y.invalidated_at
from entity_types y
where y.kb_id = %(kb_id)s and y.entity_id = any(%(ids)s::uuid[]) and y.invalidated_seq is distinct from y.recorded_seq
union all
select h.id, h.entity_id, h.type_key, 'human', h.recorded_seq, h.recorded_at, h.invalidated_seq, h.invalidated_at
from human_types h where h.kb_id = %(kb_id)s and h.id = any(%(ids)s::uuid[])

-- name: state_identities
-- An entity that a chain of merges moved several times in one transaction was seen where it came to rest.
select c.*, c.entity_id as id from entity_canonical c
where c.kb_id = %(kb_id)s and c.entity_id = any(%(ids)s::uuid[]) and c.invalidated_seq is distinct from c.recorded_seq

-- name: state_refusals
select r.* from refusals r where r.kb_id = %(kb_id)s and r.id = any(%(ids)s::uuid[])

-- name: state_evidence
select v.*, v.assertion_id as id, a.quote, a.document_id, d.filename, a.chunk_id, a.attested_at, a.wording, a.origin,
       a.denies, a.corrects,
       case when a.invalidated_seq = v.invalidated_seq then a.invalidated_kind end as invalidated_kind
from evidence v
join assertions a on a.kb_id = v.kb_id and a.id = v.assertion_id
left join document_versions d on d.kb_id = a.kb_id and d.id = a.version_id
where v.kb_id = %(kb_id)s and v.assertion_id = any(%(ids)s::uuid[]) and v.lineage_id = %(lineage_id)s

-- name: state_transactions
select t.seq, t.recorded_at, t.actor, t.via, t.action, t.why from ledger_transaction t
where t.kb_id = %(kb_id)s and t.seq = any(%(seqs)s::bigint[])

-- name: state_canonical
-- Written id → the cluster it stood for, where that was another.
select c.entity_id, c.canonical_id from entity_canonical c
where c.kb_id = %(kb_id)s and c.entity_id = any(%(ids)s::uuid[]) and [[held c]]
