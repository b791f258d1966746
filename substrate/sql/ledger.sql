-- name: lock_head
-- The base's head row, locked until commit. A waiter sees the row as its predecessor committed it.
select seq, at, hash from kb_head where kb_id = %(kb_id)s for update

-- name: clock
-- The wall clock now, asked after the lock is held; now() would be the transaction's start.
select clock_timestamp() as now

-- name: state_under_lock
-- The clock, and what the base holds of the few things that most writes would look for in vain. Asked after the lock is
-- held, so that it sees what the last transaction left.
select clock_timestamp() as now,
       exists (select from entity_canonical c where c.kb_id = %(kb_id)s and c.invalidated_seq is null) as merged,
       exists (select from refusals r where r.kb_id = %(kb_id)s and r.invalidated_seq is null) as refusing,
       exists (select from conflicts c where c.kb_id = %(kb_id)s) as contested

-- name: transaction_of_key
-- The transaction an idempotency key was used for, if any.
select seq from ledger_transaction where kb_id = %(kb_id)s and idempotency_key = %(key)s

-- name: append_transaction
insert into ledger_transaction (kb_id, seq, recorded_at, actor, via, action, why, idempotency_key, events, head_hash)
values (%(kb_id)s, %(seq)s, %(at)s, %(actor)s, %(via)s, %(action)s, %(why)s, %(idempotency_key)s, %(events)s, %(head_hash)s)

-- name: append_events
-- In the order of the arrays, counted from 0.
insert into ledger_log (kb_id, seq, ordinal, kind, payload, salt, prev_hash, hash)
select %(kb_id)s, %(seq)s, e.ordinal - 1, e.kind, e.payload, e.salt, e.prev_hash, e.hash
from unnest(%(kinds)s::text[], %(payloads)s::bytea[], %(salts)s::bytea[], %(links)s::bytea[], %(hashes)s::bytea[])
     with ordinality as e (kind, payload, salt, prev_hash, hash, ordinal)

-- name: erase_events
-- After the purge that names them is chained, in its transaction: the table refuses any other.
update ledger_log l set payload = null, salt = null, payload_hash = sha256(l.salt || l.payload)
from unnest(%(seqs)s::bigint[], %(ordinals)s::integer[]) as e (seq, ordinal)
where l.kb_id = %(kb_id)s and l.seq = e.seq and l.ordinal = e.ordinal and l.payload is not null and l.salt is not null

-- name: insert_rows
-- Formatted by ledger._rows alone, with identifiers of its own tables.
insert into {table} ({stamped}, {columns})
select {stamps}, {columns} from json_populate_recordset(null::{table}, %(rows)s::json)

-- name: insert_rows_not_held
-- As above, but for rows of which one with the same natural key is held; returns the keys of those that were inserted.
-- The unique index answers, so that no statistics of a new base can mislead the planner.
insert into {table} ({stamped}, {columns})
select {stamps}, {columns} from json_populate_recordset(null::{table}, %(rows)s::json)
on conflict (kb_id, {key}) where invalidated_seq is null do nothing
returning {key} as key

-- name: rows_in_order
-- Formatted by ledger._stored alone, with identifiers of its own tables.
select {order}, {wanted} from {table} where kb_id = %(kb_id)s and {order} is not null {after} order by {order}

-- name: move_head
update kb_head set seq = %(seq)s, at = %(at)s, hash = %(hash)s where kb_id = %(kb_id)s

-- name: close_rows
-- Formatted by ledger._rows alone, with identifiers of its own tables.
update {table} set invalidated_seq = %(seq)s, invalidated_at = %(at)s {kind}
where kb_id = %(kb_id)s and {id} = any(%(ids)s) and invalidated_seq is null

-- name: close_evidence
update evidence e set invalidated_seq = %(seq)s, invalidated_at = %(at)s
from unnest(%(lineages)s::uuid[], %(assertions)s::uuid[]) as l (lineage_id, assertion_id)
where e.kb_id = %(kb_id)s and e.lineage_id = l.lineage_id and e.assertion_id = l.assertion_id
  and e.invalidated_seq is null

-- name: decide_pending
update pending_facts set invalidated_seq = %(seq)s, invalidated_at = %(at)s, verdict = %(verdict)s,
       decided_by = %(by)s, why = %(why)s
where kb_id = %(kb_id)s and id = %(id)s and invalidated_seq is null

-- name: create_base
insert into kb (id, slug, name) values (%(id)s, %(slug)s, %(name)s) on conflict (slug) do nothing returning id

-- name: create_head
insert into kb_head (kb_id, hash) values (%(kb_id)s, %(hash)s)

-- name: base_by_slug
select id, slug, name, created_at from base_of_slug(%(slug)s)

-- name: base_by_id
select id, slug, name, created_at from kb where id = %(kb_id)s

-- name: bases
select k.id, k.slug, k.name, k.created_at, h.seq from kb k join kb_head h on h.kb_id = k.id order by k.slug

-- name: canonical_of
-- entity -> canonical id as it is now, for the entities that were merged into another.
select c.entity_id, c.canonical_id from entity_canonical c
where c.kb_id = %(kb_id)s and c.entity_id = any(%(ids)s) and c.invalidated_seq is null

-- name: members_of
-- Every entity whose canonical id is one of these, the canonical ones not included.
select c.entity_id, c.canonical_id from entity_canonical c
where c.kb_id = %(kb_id)s and c.canonical_id = any(%(ids)s) and c.invalidated_seq is null

-- name: entities_named
-- Entities first met under one of these names, or known by one of them now; the earliest first.
select n.norm, e.id, e.label, e.recorded_seq
from unnest(%(norms)s::text[]) as n (norm)
join lateral (
    select x.id, x.label, x.recorded_seq from entities x where x.kb_id = %(kb_id)s and x.label_norm = n.norm
    union
    select x.id, x.label, x.recorded_seq from facts f join entities x on x.kb_id = f.kb_id and x.id = f.subject_id
    where f.kb_id = %(kb_id)s and f.predicate_key = 'known_as' and f.value_norm = n.norm and f.invalidated_seq is null
) e on true
order by n.norm, e.recorded_seq, e.id

-- name: held_types
select entity_id, type_key, source from entity_types
where kb_id = %(kb_id)s and entity_id = any(%(ids)s) and invalidated_seq is null

-- name: refusals_of_subjects
-- Refusals in force for these entities (give every member of each cluster).
select id, subject_id, predicate_key, phrase, object_id, value_norm from refusals
where kb_id = %(kb_id)s and subject_id = any(%(ids)s) and invalidated_seq is null
order by recorded_seq, id

-- name: counted_restatements
select refusal_id, source_key from refusal_restatements where kb_id = %(kb_id)s and source_key = any(%(keys)s)

-- name: assertions_on_subjects
-- Live assertions of these subjects under these relations. Bound and unbound ones apart, so that an index leads to the
-- relation too: an entity of a thousand statements is not read whole for one of them.
select a.* from assertions a
where a.kb_id = %(kb_id)s and a.subject_id = any(%(ids)s) and a.invalidated_seq is null
  and a.predicate_key = any(%(predicates)s)
  and not exists (select from withheld w where w.kb_id = a.kb_id and w.assertion_id = a.id and w.invalidated_seq is null)
union all
select a.* from assertions a
where cardinality(%(phrases)s::text[]) > 0 and a.kb_id = %(kb_id)s and a.subject_id = any(%(ids)s)
  and a.invalidated_seq is null and a.predicate_key is null and a.phrase = any(%(phrases)s)
  and not exists (select from withheld w where w.kb_id = a.kb_id and w.assertion_id = a.id and w.invalidated_seq is null)

-- name: assertions_on_objects
select a.* from assertions a
where a.kb_id = %(kb_id)s and a.object_id = any(%(objects)s) and a.invalidated_seq is null
  and a.predicate_key = any(%(predicates)s)
  and not exists (select from withheld w where w.kb_id = a.kb_id and w.assertion_id = a.id and w.invalidated_seq is null)

-- name: assertions_of_versions
select a.* from assertions a where a.kb_id = %(kb_id)s and a.version_id = any(%(ids)s) and a.invalidated_seq is null

-- name: assertions_of_entities
-- Every live assertion that touches one of these entities, on either side.
select a.* from assertions a where a.kb_id = %(kb_id)s and a.invalidated_seq is null and a.subject_id = any(%(ids)s)
union
select a.* from assertions a where a.kb_id = %(kb_id)s and a.invalidated_seq is null and a.object_id = any(%(ids)s)

-- name: assertions_of_triples
-- Live assertions that join one of these subjects to one of these objects or values.
select a.* from assertions a
where a.kb_id = %(kb_id)s and a.subject_id = any(%(ids)s) and a.invalidated_seq is null
  and a.predicate_key = any(%(predicates)s) and (a.object_id = any(%(objects)s) or a.value_norm = any(%(values)s))
  and not exists (select from withheld w where w.kb_id = a.kb_id and w.assertion_id = a.id and w.invalidated_seq is null)
union all
select a.* from assertions a
where cardinality(%(phrases)s::text[]) > 0 and a.kb_id = %(kb_id)s and a.subject_id = any(%(ids)s)
  and a.invalidated_seq is null and a.predicate_key is null and a.phrase = any(%(phrases)s)
  and (a.object_id = any(%(objects)s) or a.value_norm = any(%(values)s))
  and not exists (select from withheld w where w.kb_id = a.kb_id and w.assertion_id = a.id and w.invalidated_seq is null)

-- name: assertions_have_statistics
-- Before they have, the planner takes any condition on kb_id for selective, and would read the base whole for each
-- triple that is asked for by itself.
select reltuples >= 0 as known from pg_class where oid = 'assertions'::regclass

-- name: links_stated_before
-- Which of these triples of a subject, a predicate and an object, by their place in the arrays, something held states
-- that was recorded before. For a table with statistics: one look into an index for each.
-- lint: axis, since it asks what was written by earlier transactions than this one, not what was held then.
select t.place
from unnest(%(subjects)s::uuid[], %(predicates)s::text[], %(objects)s::uuid[])
     with ordinality as t (subject_id, predicate_key, object_id, place)
cross join lateral (
    select a.subject_id, a.predicate_key, a.object_id from assertions a
    where a.kb_id = %(kb_id)s and a.invalidated_seq is null and a.recorded_seq < %(seq)s
      and (a.subject_id, a.predicate_key, a.object_id) >= (t.subject_id, t.predicate_key, t.object_id)
    order by a.subject_id, a.predicate_key, a.object_id
    limit 1
) next
where (next.subject_id, next.predicate_key, next.object_id) = (t.subject_id, t.predicate_key, t.object_id)

-- name: triples_stated_before
-- What joins one of these subjects to one of these objects or values, is held and was recorded before.
-- lint: axis, since it asks what was written by earlier transactions than this one, not what was held then.
select a.subject_id, a.predicate_key, a.phrase, a.object_id, a.value_norm from assertions a
where a.kb_id = %(kb_id)s and a.subject_id = any(%(ids)s) and a.invalidated_seq is null
  and a.predicate_key = any(%(predicates)s) and (a.object_id = any(%(objects)s) or a.value_norm = any(%(values)s))
  and a.recorded_seq < %(seq)s
union all
select a.subject_id, a.predicate_key, a.phrase, a.object_id, a.value_norm from assertions a
where cardinality(%(phrases)s::text[]) > 0 and a.kb_id = %(kb_id)s and a.subject_id = any(%(ids)s)
  and a.invalidated_seq is null and a.predicate_key is null and a.phrase = any(%(phrases)s)
  and (a.object_id = any(%(objects)s) or a.value_norm = any(%(values)s)) and a.recorded_seq < %(seq)s

-- name: contests_of_triples
-- As above, of denials and corrections alone, and no more of them than names their triple.
select a.subject_id, a.predicate_key, a.phrase, a.object_id, a.value_norm, a.replaces from assertions a
where a.kb_id = %(kb_id)s and a.subject_id = any(%(ids)s) and a.invalidated_seq is null
  and (a.denies or a.corrects)
  and (a.predicate_key = any(%(predicates)s) or (a.predicate_key is null and a.phrase = any(%(phrases)s)))
  and (a.object_id = any(%(objects)s) or a.value_norm = any(%(values)s))
  and not exists (select from withheld w where w.kb_id = a.kb_id and w.assertion_id = a.id and w.invalidated_seq is null)

-- name: corrections_beside
-- Is there a live correction on one of these subjects or objects?
select a.id from assertions a
where a.kb_id = %(kb_id)s and a.subject_id = any(%(ids)s) and a.predicate_key = any(%(predicates)s)
  and a.corrects and a.invalidated_seq is null
  and not exists (select from withheld w where w.kb_id = a.kb_id and w.assertion_id = a.id and w.invalidated_seq is null)
union all
select a.id from assertions a
where a.kb_id = %(kb_id)s and a.object_id = any(%(objects)s) and a.predicate_key = any(%(predicates)s)
  and a.corrects and a.invalidated_seq is null
  and not exists (select from withheld w where w.kb_id = a.kb_id and w.assertion_id = a.id and w.invalidated_seq is null)
limit 1

-- name: held_facts_of_triples
select f.* from facts f
where f.kb_id = %(kb_id)s and f.subject_id = any(%(ids)s) and f.invalidated_seq is null
  and f.predicate_key = any(%(predicates)s) and (f.object_id = any(%(objects)s) or f.value_norm = any(%(values)s))
union all
select f.* from facts f
where cardinality(%(phrases)s::text[]) > 0 and f.kb_id = %(kb_id)s and f.subject_id = any(%(ids)s)
  and f.invalidated_seq is null and f.predicate_key is null and f.phrase = any(%(phrases)s)
  and (f.object_id = any(%(objects)s) or f.value_norm = any(%(values)s))

-- name: held_fact
select f.* from facts f where f.kb_id = %(kb_id)s and f.id = %(id)s and f.invalidated_seq is null

-- name: held_evidence
select lineage_id, assertion_id from evidence
where kb_id = %(kb_id)s and lineage_id = any(%(ids)s) and invalidated_seq is null

-- name: lineages_of_assertions
select lineage_id, assertion_id from evidence
where kb_id = %(kb_id)s and assertion_id = any(%(ids)s) and invalidated_seq is null

-- name: held_terms
select id, kind, key, definition from ontology_terms where kb_id = %(kb_id)s and invalidated_seq is null order by key

-- name: held_refusal
select id from refusals where kb_id = %(kb_id)s and id = %(id)s and invalidated_seq is null

-- name: entities_by_id
select id, label, label_norm from entities where kb_id = %(kb_id)s and id = any(%(ids)s)

-- name: facts_closed_at
-- Facts of these lineages that this transaction closed and did not follow with another row.
select f.id from facts f
where f.kb_id = %(kb_id)s and f.invalidated_seq = %(seq)s and f.lineage_id = any(%(lineages)s)
  and not exists (select from facts g where g.kb_id = f.kb_id and g.lineage_id = f.lineage_id and g.invalidated_seq is null)
order by f.id

-- name: waiting_of_versions
-- Proposals whose sentence stands in one of these document versions.
select p.id from pending_facts p join chunks c on c.kb_id = p.kb_id and c.id = p.chunk_id
where p.kb_id = %(kb_id)s and c.version_id = any(%(ids)s) and p.invalidated_seq is null
