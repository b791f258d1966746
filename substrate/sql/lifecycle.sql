-- Deletions of documents, their undoing, and what is left after a purge.

-- name: lifecycle_held_of_lineages
-- The rows held now of these lineages.
select f.id from facts f
where f.kb_id = %(kb_id)s and f.lineage_id = any(%(lineages)s) and f.invalidated_seq is null order by f.id

-- name: lifecycle_deletion
-- A deletion with what became of it: when it was undone, how many versions of its document are held now.
select d.*, x.external_id, x.kind, r.recorded_seq as restored_seq,
       (select p.recorded_seq from document_purges p
        where p.kb_id = d.kb_id and p.document_id = d.document_id) as purged_seq,
       (select count(*) from document_versions v
        where v.kb_id = d.kb_id and v.document_id = d.document_id and v.invalidated_seq is null) as held_versions,
       (select coalesce(max(v.number), 0) from document_versions v
        where v.kb_id = d.kb_id and v.document_id = d.document_id) as last_number
from document_deletions d
join documents x on x.kb_id = d.kb_id and x.id = d.document_id
left join document_restorations r on r.kb_id = d.kb_id and r.deletion_id = d.id
where d.kb_id = %(kb_id)s and d.id = %(id)s

-- name: lifecycle_versions
-- Versions by id, with whether parsing had come to an end with them.
select v.*, exists (select from parse_results p where p.kb_id = v.kb_id and p.version_id = v.id)
            or exists (select from chunks c where c.kb_id = v.kb_id and c.version_id = v.id) as parsed
from document_versions v where v.kb_id = %(kb_id)s and v.id = any(%(ids)s) order by v.number

-- name: lifecycle_chunks
select c.* from chunks c where c.kb_id = %(kb_id)s and c.id = any(%(ids)s) order by c.version_id, c.position

-- name: lifecycle_claims
select c.* from claims c
where c.kb_id = %(kb_id)s and c.chunk_id = any(%(ids)s) order by c.chunk_id, c.extractor, c.ordinal

-- name: lifecycle_assertions
-- Assertions that one transaction closed, each with the lineage that rested on it until then, and whether no fact is held
-- under that lineage now.
select a.*, e.lineage_id,
       e.lineage_id is not null and not exists (
           select from facts f
           where f.kb_id = e.kb_id and f.lineage_id = e.lineage_id and f.invalidated_seq is null) as free
from assertions a
left join evidence e on e.kb_id = a.kb_id and e.assertion_id = a.id and e.invalidated_seq = %(seq)s
where a.kb_id = %(kb_id)s and a.id = any(%(ids)s)
order by a.document_id, a.chunk_id, a.quote_start, a.source_key

-- name: lifecycle_lineages
-- Facts by id, with the row of their lineage that is held now, if any.
select f.id, f.lineage_id, h.id as held_id from facts f
left join facts h on h.kb_id = f.kb_id and h.lineage_id = f.lineage_id and h.invalidated_seq is null
where f.kb_id = %(kb_id)s and f.id = any(%(ids)s) order by f.id

-- name: lifecycle_of_source_keys
select a.source_key, a.id from assertions a
where a.kb_id = %(kb_id)s and a.source_key = any(%(keys)s) and a.invalidated_seq is null

-- name: lifecycle_mentions
select m.claim_id, m.role, coalesce(v.entity_id, m.entity_id) as entity_id, m.surface
from mentions m
left join lateral (select w.entity_id from mention_moves w
                   where w.kb_id = m.kb_id and w.claim_id = m.claim_id and w.role = m.role
                   order by w.recorded_seq desc limit 1) v on true
where m.kb_id = %(kb_id)s and m.claim_id = any(%(ids)s) order by m.claim_id, m.role

-- name: lifecycle_proposals
select p.id, p.claim_id, p.chunk_id, p.document_id, p.namespace, p.predicate_key, p.proposed_by from pending_facts p
where p.kb_id = %(kb_id)s and p.id = any(%(ids)s) order by p.recorded_seq, p.id

-- name: lifecycle_copy_parse_results
insert into parse_results (kb_id, version_id, parser, title, media_type, doc_time, doc_time_precision,
                           doc_time_source, failure_code, failure)
select p.kb_id, m.new, p.parser, p.title, p.media_type, p.doc_time, p.doc_time_precision, p.doc_time_source,
       p.failure_code, p.failure
from unnest(%(old)s::uuid[], %(new)s::uuid[]) as m (old, new)
join parse_results p on p.kb_id = %(kb_id)s and p.version_id = m.old

-- name: lifecycle_copy_parse_work
-- What the parse stage said of a version that it had come to an end with.
insert into work (kb_id, stage, item_id, code_version, state, started, finished, failure_code, failure, done_at)
select w.kb_id, w.stage, m.new, w.code_version, w.state, w.started, w.finished, w.failure_code, w.failure, w.done_at
from unnest(%(old)s::uuid[], %(new)s::uuid[]) as m (old, new)
join work w on w.kb_id = %(kb_id)s and w.stage = 'parse' and w.item_id = m.old and w.state <> 'due'

-- name: lifecycle_copy_embeddings
-- The vectors of the same text by the same model are not paid again; the stage is told so.
with copied as (
    insert into embeddings (kb_id, chunk_id, model, embedding)
    select e.kb_id, m.new, e.model, e.embedding
    from unnest(%(old)s::uuid[], %(new)s::uuid[]) as m (old, new)
    join embeddings e on e.kb_id = %(kb_id)s and e.chunk_id = m.old
    returning chunk_id, model
)
insert into work (kb_id, stage, item_id, code_version, state, done_at)
select %(kb_id)s, 'embed', c.chunk_id, c.model, 'done', clock_timestamp() from copied c

-- name: lifecycle_copy_claims
insert into claims (
    kb_id, id, chunk_id, extractor, ordinal, subject, subject_kind, phrase, wording, object, object_kind,
    value_raw, value_number, value_unit, value_type, qualifiers, quote, quote_start, quote_end,
    valid_from, valid_from_precision, valid_to, valid_to_precision, grade, time_words, at_event,
    mood, denies, corrects, confidence
)
select c.kb_id, m.new, m.chunk, c.extractor, c.ordinal, c.subject, c.subject_kind, c.phrase, c.wording, c.object,
       c.object_kind, c.value_raw, c.value_number, c.value_unit, c.value_type, c.qualifiers, c.quote, c.quote_start,
       c.quote_end, c.valid_from, c.valid_from_precision, c.valid_to, c.valid_to_precision, c.grade, c.time_words,
       c.at_event, c.mood, c.denies, c.corrects, c.confidence
from unnest(%(old)s::uuid[], %(new)s::uuid[], %(chunks)s::uuid[]) as m (old, new, chunk)
join claims c on c.kb_id = %(kb_id)s and c.id = m.old

-- name: lifecycle_copy_drops
insert into extraction_drops (kb_id, chunk_id, extractor, ordinal, code, detail, example)
select d.kb_id, m.new, d.extractor, d.ordinal, d.code, d.detail, d.example
from unnest(%(old)s::uuid[], %(new)s::uuid[]) as m (old, new)
join extraction_drops d on d.kb_id = %(kb_id)s and d.chunk_id = m.old

-- name: lifecycle_drops
select d.* from extraction_drops d
where d.kb_id = %(kb_id)s and d.chunk_id = any(%(ids)s) order by d.chunk_id, d.extractor, d.ordinal

-- name: lifecycle_readings
select u.chunk_id, u.extractor from extraction_usage u
where u.kb_id = %(kb_id)s and u.chunk_id = any(%(ids)s) order by u.chunk_id, u.extractor

-- name: lifecycle_keep_readings
with used as (
    insert into extraction_usage (kb_id, chunk_id, extractor, claims, drops, content)
    select %(kb_id)s, r.* from unnest(%(chunk_id)s::uuid[], %(extractor)s::text[], %(claims)s::integer[],
                                      %(drops)s::integer[], %(content)s::bytea[]) as r
    returning chunk_id, extractor
)
insert into work (kb_id, stage, item_id, code_version, state, done_at)
select %(kb_id)s, 'claims', u.chunk_id, u.extractor, 'done', clock_timestamp() from used u

-- name: lifecycle_proposed_chunks
-- Those of some chunks of which something was ever proposed.
select distinct p.chunk_id from pending_facts p where p.kb_id = %(kb_id)s and p.chunk_id = any(%(ids)s)

-- name: lifecycle_settle_work
insert into work (kb_id, stage, item_id, code_version, state, done_at)
select %(kb_id)s, s.stage, i.item_id, %(code_version)s, 'done', clock_timestamp()
from unnest(%(items)s::uuid[]) as i (item_id), (values ('entities'), ('facts')) as s (stage)

-- name: lifecycle_deletions
-- Deletions recorded by the moment, newest first, one page of them with the total on every row (a row without id where
-- there are none): of one document or of all. What undid one is told if it was recorded by then.
with mine as (
    select d.* from document_deletions d
    where d.kb_id = %(kb_id)s and (%(document_id)s::uuid is null or d.document_id = %(document_id)s) and [[recorded d]]
)
select totals.total, m.id, m.document_id, x.external_id, x.kind, m.why, m.recorded_at, m.recorded_seq, m.version_ids,
       m.chunk_ids, m.assertion_ids, m.proposal_ids, m.fact_ids, m.weakened_ids, t.actor, t.via,
       r.id as restoration_id, r.why as restored_why, r.recorded_at as restored_at, r.recorded_seq as restored_seq,
       r.items -> 'facts' as facts_back, rt.actor as restored_by, p.why as purged_why, p.recorded_at as purged_at,
       p.recorded_seq as purged_seq, pt.actor as purged_by
from (select count(*) as total from mine) totals
left join (select * from mine order by recorded_seq desc, id limit %(limit)s offset %(offset)s) m on true
left join documents x on x.kb_id = m.kb_id and x.id = m.document_id
left join ledger_transaction t on t.kb_id = m.kb_id and t.seq = m.recorded_seq
left join document_restorations r on r.kb_id = m.kb_id and r.deletion_id = m.id and [[recorded r]]
left join ledger_transaction rt on rt.kb_id = r.kb_id and rt.seq = r.recorded_seq
left join document_purges p on p.kb_id = m.kb_id and p.document_id = m.document_id and [[recorded p]]
left join ledger_transaction pt on pt.kb_id = p.kb_id and pt.seq = p.recorded_seq
order by m.recorded_seq desc, m.id

-- name: lifecycle_facts_told
-- Fact rows by id in few words, their ends as clusters at the moment.
select f.id, f.lineage_id, f.predicate_key, f.phrase, coalesce(term.definition ->> 'label', f.predicate_key, f.phrase) as label,
       coalesce(s.canonical_id, f.subject_id) as subject_id, coalesce(o.canonical_id, f.object_id) as object_id,
       f.value_raw, f.value_norm, f.value_number, f.value_unit, f.value_type
from facts f
left join entity_canonical s on s.kb_id = f.kb_id and s.entity_id = f.subject_id and [[held s]]
left join entity_canonical o on o.kb_id = f.kb_id and o.entity_id = f.object_id and [[held o]]
left join ontology_terms term on term.kb_id = f.kb_id and term.key = f.predicate_key and [[held term]]
where f.kb_id = %(kb_id)s and f.id = any(%(ids)s::uuid[])
order by coalesce(f.predicate_key, f.phrase), f.id

-- name: lifecycle_unconfirmed
-- Of some lineages, those that rested on passages and rest on none that was held at the moment, each with the passages
-- that it rested on last: a new version took their place and is not read yet, or a person alone speaks for it still.
-- Nearly all are confirmed by the first link looked at, so that these are sorted out before anything else is read.
with lost as materialized (
    select l.lineage_id from unnest(%(lineages)s::uuid[]) as l (lineage_id)
    where not exists (
        select from evidence v
        join assertions a on a.kb_id = v.kb_id and a.id = v.assertion_id
        join chunks c on c.kb_id = a.kb_id and c.id = a.chunk_id
        where v.kb_id = %(kb_id)s and v.lineage_id = l.lineage_id and [[held v]] and [[held c]])
)
select l.lineage_id, p.quote, p.document_id, p.filename, p.chunk_id, p.attested_at, p.wording, p.origin, p.passage
from lost l
cross join lateral (
    select a.quote, a.document_id, d.filename, a.chunk_id, a.attested_at, a.wording, a.origin,
           case when [[held c]] then 'held' else c.invalidated_kind end as passage
    from evidence v
    join assertions a on a.kb_id = v.kb_id and a.id = v.assertion_id
    join chunks c on c.kb_id = a.kb_id and c.id = a.chunk_id
    left join document_versions d on d.kb_id = a.kb_id and d.id = a.version_id
    where v.kb_id = %(kb_id)s and v.lineage_id = l.lineage_id and [[recorded v]]
    order by v.recorded_seq desc, d.filename, a.quote_start, a.source_key, a.id limit 3
) p
order by l.lineage_id

-- name: lifecycle_standing
-- A document, whether it is held, when it was deleted last and purged, and the folder that is kept in step, if it is one's.
select d.id, d.external_id,
       (select count(*) from document_versions v
        where v.kb_id = d.kb_id and v.document_id = d.id and v.invalidated_seq is null) as held_versions,
       (select max(x.invalidated_seq) from document_versions x
        where x.kb_id = d.kb_id and x.document_id = d.id and x.invalidated_kind = 'deleted') as deleted_seq,
       (select p.recorded_seq from document_purges p where p.kb_id = d.kb_id and p.document_id = d.id) as purged_seq,
       (select s.name from sources s where s.kb_id = d.kb_id and s.id = d.source_id and s.kind = 'folder'
                                       and not s.config ? 'let_go') as kept_folder
from documents d where d.kb_id = %(kb_id)s and d.id = %(document_id)s

-- name: lifecycle_purges
-- Purges of some documents, with who did them and why; null: of all.
select p.id, p.document_id, p.why, p.recorded_at, p.recorded_seq, t.actor
from document_purges p join ledger_transaction t on t.kb_id = p.kb_id and t.seq = p.recorded_seq
where p.kb_id = %(kb_id)s and (%(ids)s::uuid[] is null or p.document_id = any(%(ids)s)) order by p.recorded_seq

-- name: lifecycle_purges_of_lineages
-- The purges that took words of these lineages' statements, the last first.
select distinct on (v.lineage_id) v.lineage_id, p.document_id, p.why, p.recorded_at, p.recorded_seq, t.actor
from evidence v
join assertions a on a.kb_id = v.kb_id and a.id = v.assertion_id
join document_purges p on p.kb_id = a.kb_id and p.document_id = a.document_id
join ledger_transaction t on t.kb_id = p.kb_id and t.seq = p.recorded_seq
where v.kb_id = %(kb_id)s and v.lineage_id = any(%(lineages)s)
order by v.lineage_id, p.recorded_seq desc

-- name: lifecycle_purged_after
-- lint: axis, since it asks what happened after a sequence.
select p.id from document_purges p where p.kb_id = %(kb_id)s and p.recorded_seq > %(after)s limit 1

-- name: lifecycle_unconfirmed_facts
-- Held facts that rested on passages and rest on none that was held, oldest first, one page with the total on every row (a
-- row without id where there are none). Found by where they can come from: versions that are held no more and whose
-- statements are still in force, and words of people on a fact.
with suspects as (
    select e.lineage_id
    from document_versions v
    join assertions a on a.kb_id = v.kb_id and a.version_id = v.id and [[held a]]
    join evidence e on e.kb_id = a.kb_id and e.assertion_id = a.id and [[held e]]
    where v.kb_id = %(kb_id)s and [[recorded v]] and not [[held v]]
    union
    select e.lineage_id
    from corrections k
    join evidence e on e.kb_id = k.kb_id and e.assertion_id = k.assertion_id and [[held e]]
    where k.kb_id = %(kb_id)s and [[held k]]
), found as (
    select f.id, f.lineage_id, f.recorded_seq
    from suspects s
    join facts f on f.kb_id = %(kb_id)s and f.lineage_id = s.lineage_id and [[held f]]
    where exists (
        select from evidence v
        join assertions a on a.kb_id = v.kb_id and a.id = v.assertion_id
        where v.kb_id = f.kb_id and v.lineage_id = f.lineage_id and [[recorded v]] and a.chunk_id is not null)
      and not exists (
        select from evidence v
        join assertions a on a.kb_id = v.kb_id and a.id = v.assertion_id
        join chunks c on c.kb_id = a.kb_id and c.id = a.chunk_id
        where v.kb_id = f.kb_id and v.lineage_id = f.lineage_id and [[held v]] and [[held c]])
)
select totals.total, p.id, p.lineage_id
from (select count(*) as total from found) totals
left join (select * from found order by recorded_seq, id limit %(limit)s offset %(offset)s) p on true
order by p.recorded_seq, p.id

-- name: lifecycle_last_version
select v.id from document_versions v
where v.kb_id = %(kb_id)s and v.document_id = %(document_id)s order by v.number desc limit 1

-- name: lifecycle_decided
-- For claims of which a proposal was decided and none waited when the deletion withdrew it: the last decision, its batch,
-- and when that was taken back, if it was.
select distinct on (p.claim_id) p.id, p.claim_id, p.chunk_id, p.document_id, p.namespace, p.predicate_key, p.proposed_by,
       p.verdict, p.decided_by, v.batch_id, v.refusal_id, r.recorded_seq as reverted_seq
from pending_facts p
left join verdicts v on v.kb_id = p.kb_id and v.pending_id = p.id
left join reverts r on r.kb_id = v.kb_id and r.batch_id = v.batch_id
where p.kb_id = %(kb_id)s and p.claim_id = any(%(ids)s) and p.verdict in ('confirmed', 'rejected')
  and not exists (
      select from pending_facts w
      where w.kb_id = p.kb_id and w.claim_id = p.claim_id and w.id = any(%(withdrawn)s))
order by p.claim_id, p.recorded_seq desc, p.id
