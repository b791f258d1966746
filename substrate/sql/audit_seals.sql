-- name: seal_alone
-- Whether this transaction is the one that seals the base: several processes may try.
select pg_try_advisory_xact_lock(hashtextextended('twoclocks seal ' || %(kb_id)s::text, 0)) as mine

-- name: seal_last
select number, hash, sealed_at from audit_seals where kb_id = %(kb_id)s order by number desc limit 1

-- name: seal_at
select number, hash from audit_seals where kb_id = %(kb_id)s and number = %(number)s

-- name: seal_unsealed_events
select id, hash from access_events where kb_id = %(kb_id)s and seal is null order by id limit %(most)s

-- name: seal_unsealed_extractions
-- Those of before there were digests are left out.
select chunk_id, extractor, hash from extraction_usage
where kb_id = %(kb_id)s and seal is null and hash is not null
order by chunk_id, extractor collate "C" limit %(most)s

-- name: seal_insert
insert into audit_seals (kb_id, number, sealed_at, events, extractions, root, prev_hash, hash)
values (%(kb_id)s, %(number)s, %(sealed_at)s, %(events)s, %(extractions)s, %(root)s, %(prev_hash)s, %(hash)s)

-- name: seal_events
update access_events set seal = %(number)s where kb_id = %(kb_id)s and id = any(%(ids)s::bigint[])

-- name: seal_extractions
update extraction_usage u set seal = %(number)s
from unnest(%(chunk_ids)s::uuid[], %(extractors)s::text[]) as r (chunk_id, extractor)
where u.kb_id = %(kb_id)s and u.chunk_id = r.chunk_id and u.extractor = r.extractor

-- name: seal_waiting
-- How many rows no seal covers yet, and the seconds since the oldest of them was written.
select count(*) as rows, coalesce(extract(epoch from clock_timestamp() - min(at)), 0)::float8 as oldest_s
from (select at from access_events where kb_id = %(kb_id)s and seal is null
      union all
      select kept_at from extraction_usage where kb_id = %(kb_id)s and seal is null and hash is not null) waiting

-- name: sealed_seals
-- Every seal after a number, in order.
select number, canonical_time(sealed_at) as sealed_at, events, extractions, root, prev_hash, hash from audit_seals
where kb_id = %(kb_id)s and number > %(after)s order by number

-- name: sealed_events
-- Events of seals after a number (null: of every number there is), then those that wait; each column as it is hashed.
select seal, id, kb_id::text as base, canonical_time(at) as at, person_id::text as person_id, token_id::text as token_id,
       via, action, seq, fact_ids::text[] as fact_ids, chunk_ids::text[] as chunk_ids, payload, hash
from access_events
where kb_id = %(kb_id)s and (seal is null or %(after)s::bigint is null or seal > %(after)s)
order by seal nulls last, id

-- name: sealed_extractions
-- Extractions of seals after a number (null: of every number there is), then those that wait.
select seal, kb_id::text as base, chunk_id::text as chunk_id, extractor, prompt_tokens, completion_tokens, claims, drops,
       encode(content, 'hex') as content, canonical_time(kept_at) as kept_at, payload, hash,
       exists (select from chunks c join document_purges p on p.kb_id = c.kb_id and p.document_id = c.document_id
               where c.kb_id = u.kb_id and c.id = u.chunk_id) as purged
from extraction_usage u
where kb_id = %(kb_id)s and hash is not null and (seal is null or %(after)s::bigint is null or seal > %(after)s)
order by seal nulls last, chunk_id, extractor collate "C"

-- name: sealed_claims
-- The claims of those extractions, in the same order, each column as it is hashed.
select u.seal, c.chunk_id::text as chunk_id, c.extractor, c.id::text as id, c.ordinal, c.subject, c.subject_kind,
       c.phrase, c.wording, c.object, c.object_kind, c.value_raw, c.value_number::text as value_number, c.value_unit,
       c.value_type, c.qualifiers, c.quote, c.quote_start, c.quote_end, canonical_time(c.valid_from) as valid_from,
       c.valid_from_precision, canonical_time(c.valid_to) as valid_to, c.valid_to_precision, c.grade, c.time_words,
       c.at_event, c.mood, c.denies, c.corrects, c.confidence
from extraction_usage u
join claims c on c.kb_id = u.kb_id and c.chunk_id = u.chunk_id and c.extractor = u.extractor
where u.kb_id = %(kb_id)s and u.hash is not null and (u.seal is null or %(after)s::bigint is null or u.seal > %(after)s)
order by u.seal nulls last, u.chunk_id, u.extractor collate "C", c.ordinal

-- name: sealed_drops
select u.seal, d.chunk_id::text as chunk_id, d.extractor, d.ordinal, d.code, d.detail, d.example
from extraction_usage u
join extraction_drops d on d.kb_id = u.kb_id and d.chunk_id = u.chunk_id and d.extractor = u.extractor
where u.kb_id = %(kb_id)s and u.hash is not null and (u.seal is null or %(after)s::bigint is null or u.seal > %(after)s)
order by u.seal nulls last, u.chunk_id, u.extractor collate "C", d.ordinal

-- name: sealed_without_reading
-- Claims and drops that no reading of their passage by their extractor accounts for, and readings without a digest.
select (select count(*) from (
            select chunk_id, extractor from claims where kb_id = %(kb_id)s
            union all
            select chunk_id, extractor from extraction_drops where kb_id = %(kb_id)s) x
        where not exists (select from extraction_usage u where u.kb_id = %(kb_id)s and u.chunk_id = x.chunk_id
                                                           and u.extractor = x.extractor)) as orphans,
       (select count(*) from extraction_usage where kb_id = %(kb_id)s and hash is null) as uncovered

-- name: sealed_event
-- One event with its bytes and its seal.
select id, seal, payload, hash from access_events where kb_id = %(kb_id)s and id = %(id)s

-- name: sealed_leaves
-- The hashes under one seal, in their order.
select part, id, hash
from (select 0 as part, id, null::uuid as chunk_id, '' as extractor, hash from access_events
      where kb_id = %(kb_id)s and seal = %(number)s
      union all
      select 1, null, chunk_id, extractor, hash from extraction_usage
      where kb_id = %(kb_id)s and seal = %(number)s) leaves
order by part, id, chunk_id, extractor collate "C"

-- name: seal_bases_waiting
-- Bases with anything that no seal covers.
select k.id from kb k
where exists (select from access_events e where e.kb_id = k.id and e.seal is null)
   or exists (select from extraction_usage u where u.kb_id = k.id and u.seal is null and u.hash is not null)

-- name: sealed_served
-- Access events, newest first, with the total on every row.
select e.id, canonical_time(e.at) as at, p.name as person, t.name as token, e.via, e.action, e.seq,
       e.fact_ids::text[] as fact_ids, e.chunk_ids::text[] as chunk_ids, e.seal, count(*) over () as total
from access_events e
left join people p on p.id = e.person_id
left join tokens t on t.id = e.token_id
where e.kb_id = %(kb_id)s
  and (%(fact_id)s::uuid is null or %(fact_id)s::uuid = any(e.fact_ids))
  and (%(chunk_id)s::uuid is null or %(chunk_id)s::uuid = any(e.chunk_ids))
order by e.id desc limit %(most)s
