-- name: retrieval_events
-- lint: axis, since it asks what changed in a window or became of a row later, not what was held.
-- The base's head in this snapshot beside each chunk that was written or closed in (after, upto], in the order in
-- which the index takes them; one row of nulls where nothing happened. A chunk that was written in the window
-- stands at its writing, with its whole interval: what is indexed up to a sequence is then complete up to it.
-- `before` and `after` are the ends of the passages around it, which were written with it.
select h.seq as head, e.*
from kb_head h
left join lateral (
    select c.id, c.document_id, d.source_id, d.kind, c.namespace, c.text, c.heading_path, v.filename, v.author,
           coalesce(p.title, '') as title, coalesce(v.doc_time, p.doc_time) as doc_time,
           coalesce(nullif(p.media_type, ''), v.media_type) as media_type, c.recorded_seq, c.invalidated_seq,
           case when c.recorded_seq > %(after)s then c.recorded_seq else c.invalidated_seq end as event_seq,
           array(select right(n.text, 600) from chunks n
                 where n.kb_id = c.kb_id and n.version_id = c.version_id and n.parser = c.parser
                   and n.position between c.position - 4 and c.position - 1 order by n.position) as before,
           array(select left(n.text, 600) from chunks n
                 where n.kb_id = c.kb_id and n.version_id = c.version_id and n.parser = c.parser
                   and n.position between c.position + 1 and c.position + 4 order by n.position) as after
    from chunks c
    join documents d on d.kb_id = c.kb_id and d.id = c.document_id
    join document_versions v on v.kb_id = c.kb_id and v.id = c.version_id
    left join parse_results p on p.kb_id = c.kb_id and p.version_id = c.version_id and p.parser = c.parser
    where c.kb_id = %(kb_id)s
      and ((c.recorded_seq > %(after)s and c.recorded_seq <= %(upto)s)
           or (c.invalidated_seq > %(after)s and c.invalidated_seq <= %(upto)s))
) e on true
where h.kb_id = %(kb_id)s
order by e.event_seq, e.id

-- name: retrieval_backlog
-- lint: axis, since it asks what changed in a window or became of a row later, not what was held.
-- How many chunks were written or closed after a sequence.
select count(*) as chunks from chunks c
where c.kb_id = %(kb_id)s and (c.recorded_seq > %(after)s or c.invalidated_seq > %(after)s)

-- name: retrieval_nearest
-- Exact: the chunks nearest to a vector, by inner product of unit vectors, among those held at the moment. Here and below
-- the vector is read once in a sub-select: in a plan for any values it would be read from its text for every row.
select c.id, -(e.embedding <#> (select %(vector)s::vector)) as similarity
from embeddings e
join chunks c on c.kb_id = e.kb_id and c.id = e.chunk_id
where e.kb_id = %(kb_id)s and e.model = %(model)s and [[held c]]
order by e.embedding <#> (select %(vector)s::vector), c.id
limit %(depth)s

-- name: retrieval_nearest_indexed
-- The same over the base's HNSW index, whose order is relaxed: the outer sort mends it. Type and dimension must be
-- literals for the expression to be the indexed one.
with nearest as materialized (
    select c.id, -(e.embedding <#> (select %(vector)s::vector)) as similarity
    from embeddings e
    join chunks c on c.kb_id = e.kb_id and c.id = e.chunk_id
    where e.kb_id = {kb_id} and e.model = {model} and [[held c]]
    order by e.embedding::{kind}({dimension}) <#> (select %(vector)s::{kind}({dimension}))
    limit %(depth)s
)
select id, similarity from nearest order by similarity desc, id

-- name: retrieval_nearest_narrowed
-- Exact among what the filters leave. `fitting` tells how many passages that are, counted no further than one above
-- `most`; where it is above, there are no other rows than that.
with kept as materialized (
    select c.id
    from documents d
    join document_versions v on v.kb_id = d.kb_id and v.document_id = d.id
    left join parse_results p on p.kb_id = v.kb_id and p.version_id = v.id
    join chunks c on c.kb_id = v.kb_id and c.version_id = v.id and (p.parser is null or c.parser = p.parser)
    where d.kb_id = %(kb_id)s and [[held c]]
      and (%(namespace)s::text is null or d.namespace = %(namespace)s)
      and (%(documents)s::uuid[] is null or d.id = any(%(documents)s))
      and (%(sources)s::uuid[] is null or d.source_id = any(%(sources)s))
      and (%(types)s::text[] is null or d.kind = any(%(types)s)
           or coalesce(nullif(p.media_type, ''), v.media_type) = any(%(types)s))
      and (%(since)s::timestamptz is null or coalesce(v.doc_time, p.doc_time) >= %(since)s)
      and (%(until)s::timestamptz is null or coalesce(v.doc_time, p.doc_time) < %(until)s)
      and (%(passages)s::uuid[] is null or c.id = any(%(passages)s))
      and (%(without)s::uuid[] is null or c.id <> all(%(without)s))
    limit %(most)s + 1
), counted as materialized (
    select count(*) as fitting from kept
), nearest as (
    select s.id, -(e.embedding <#> (select %(vector)s::vector)) as similarity
    from kept s
    join embeddings e on e.kb_id = %(kb_id)s and e.model = %(model)s and e.chunk_id = s.id
    where (select fitting from counted) <= %(most)s
    order by e.embedding <#> (select %(vector)s::vector), s.id
    limit %(depth)s
)
select id, similarity, null::bigint as fitting from nearest
union all
select null, null, fitting from counted
order by similarity desc nulls last, id

-- name: retrieval_nearest_narrowed_indexed
-- The filters asked of what the HNSW index brings, nearest first, until enough have passed.
with nearest as materialized (
    select c.id, -(e.embedding <#> (select %(vector)s::vector)) as similarity
    from embeddings e
    join chunks c on c.kb_id = e.kb_id and c.id = e.chunk_id
    join document_versions v on v.kb_id = c.kb_id and v.id = c.version_id
    join documents d on d.kb_id = c.kb_id and d.id = c.document_id
    left join parse_results p on p.kb_id = c.kb_id and p.version_id = c.version_id and p.parser = c.parser
    where e.kb_id = {kb_id} and e.model = {model} and [[held c]]
      and (%(namespace)s::text is null or d.namespace = %(namespace)s)
      and (%(documents)s::uuid[] is null or d.id = any(%(documents)s))
      and (%(sources)s::uuid[] is null or d.source_id = any(%(sources)s))
      and (%(types)s::text[] is null or d.kind = any(%(types)s)
           or coalesce(nullif(p.media_type, ''), v.media_type) = any(%(types)s))
      and (%(since)s::timestamptz is null or coalesce(v.doc_time, p.doc_time) >= %(since)s)
      and (%(until)s::timestamptz is null or coalesce(v.doc_time, p.doc_time) < %(until)s)
      and (%(passages)s::uuid[] is null or c.id = any(%(passages)s))
      and (%(without)s::uuid[] is null or c.id <> all(%(without)s))
    order by e.embedding::{kind}({dimension}) <#> (select %(vector)s::{kind}({dimension}))
    limit %(depth)s
)
select id, similarity from nearest order by similarity desc, id

-- name: retrieval_held_early
-- lint: axis, since it asks how the passages lie about a moment, not which were held.
-- Whether no more than `most` passages had been written by a moment and ten times as many were since: an index over all
-- of them would be gone through for long to find few.
select e.early <= %(most)s and l.later >= 10 * e.early as few
from (
    select count(*) as early from (
        select from chunks c where c.kb_id = %(kb_id)s and [[recorded c]] limit %(most)s + 1
    ) written
) e
cross join lateral (
    select count(*) as later from (
        select from chunks c where c.kb_id = %(kb_id)s and c.recorded_seq > %(known_seq)s limit 10 * least(e.early, %(most)s)
    ) since
) l

-- name: retrieval_custom_plans
-- For this transaction: filters that are not asked for are planned away, which a plan made for any values cannot.
select set_config('plan_cache_mode', 'force_custom_plan', true)

-- name: retrieval_generic_plans
-- Back to what reads are planned with.
select set_config('plan_cache_mode', 'force_generic_plan', true)

-- name: filter_sources
-- The sources that are meant by these names or ids; several kinds may share a name.
select s.id, n.named
from unnest(%(named)s::text[]) as n (named)
join sources s on s.kb_id = %(kb_id)s and (s.name = n.named or s.id::text = n.named)

-- name: filter_passages_of_entity
-- Passages that say something of an entity, by any id that it was written with.
select a.chunk_id as id from assertions a
where a.kb_id = %(kb_id)s and a.chunk_id is not null and [[held a]]
  and (a.subject_id = any(%(members)s) or a.object_id = any(%(members)s))
union
select c.chunk_id from mentions m
join claims c on c.kb_id = m.kb_id and c.id = m.claim_id
where m.kb_id = %(kb_id)s and m.entity_id = any(%(members)s) and [[recorded m]]

-- name: retrieval_hnsw_settings
-- For this transaction: go on scanning until enough rows pass the filters; the order is mended by a sort outside.
select set_config('hnsw.iterative_scan', 'relaxed_order', true), set_config('hnsw.ef_search', '100', true),
       set_config('hnsw.max_scan_tuples', '100000', true), set_config('hnsw.scan_mem_multiplier', '4', true)

-- name: retrieval_vector_index
-- Whether an index of that name stands and may be used.
select i.indisvalid as valid from pg_class c join pg_index i on i.indexrelid = c.oid
join pg_namespace n on n.oid = c.relnamespace
where c.relname = %(name)s and n.nspname = current_schema()

-- name: retrieval_vector_indexes
-- The models of a base, each with the name its index would have and whether it stands; the one that serves is marked.
select m.model, m.dimension, s.model is not null as serves, x.name,
       exists (select from pg_class c join pg_index i on i.indexrelid = c.oid and i.indisvalid
               join pg_namespace n on n.oid = c.relnamespace
               where c.relname = x.name and n.nspname = current_schema()) as stands
from vector_models m
left join vector_serving s on s.kb_id = m.kb_id and s.model = m.model
cross join lateral (
    select 'embeddings_hnsw_' || left(encode(sha256(convert_to(m.kb_id || '/' || m.model, 'UTF8')), 'hex'), 24) as name
) x
where m.kb_id = %(kb_id)s
order by m.model

-- name: retrieval_vector_rows
-- Vectors of a model in a base, counted no further than `most`.
select count(*) as vectors from (
    select 1 from embeddings where kb_id = %(kb_id)s and model = %(model)s limit %(most)s
) counted

-- name: retrieval_many_vectors
-- Bases with more than so many vectors of a model, with the length of these.
select k.id, k.slug, (
    select vector_dims(e.embedding) from embeddings e where e.kb_id = k.id and e.model = %(model)s limit 1
) as dimension
from kb k
where %(above)s < (select count(*) from embeddings e where e.kb_id = k.id and e.model = %(model)s)
order by k.slug

-- name: retrieval_create_vector_index
-- Formatted with identifiers and literals by retrieval.vector_indexes alone.
create index concurrently {name} on embeddings using hnsw ((embedding::{kind}({dimension})) {operators})
where kb_id = {kb_id} and model = {model}

-- name: retrieval_drop_vector_index
drop index concurrently if exists {name}

-- name: serving_model
-- The model whose vectors answer in a base, if one was ever told of; then, for that model or else the one asked with,
-- which of `fresh` have no vector yet and how many passages wait for theirs, counted no further than a thousand.
select s.model, m.opened_by, u.model as used,
       array(select f.id from unnest(%(fresh)s::uuid[]) as f (id)
             where not exists (select from embeddings e
                               where e.kb_id = %(kb_id)s and e.model = u.model and e.chunk_id = f.id)) as lacking,
       (select count(*) from (
            select from work w
            where w.kb_id = %(kb_id)s and w.stage = 'embed' and w.state = 'due' and w.code_version = u.model limit 1000
        ) due) as waiting
from (select %(kb_id)s::uuid as kb_id) k
left join vector_serving s on s.kb_id = k.kb_id
left join vector_models m on m.kb_id = s.kb_id and m.model = s.model
cross join lateral (
    select case when %(own)s then %(model)s::text else coalesce(s.model, %(model)s::text) end as model
) u

-- name: serving_meet_model
-- Remembers how a model is opened; the first that a base meets serves it.
with met as (
    insert into vector_models (kb_id, model, opened_by, dimension)
    values (%(kb_id)s, %(model)s, %(opened_by)s, %(dimension)s)
    on conflict (kb_id, model) do update set opened_by = excluded.opened_by
    where vector_models.opened_by <> excluded.opened_by
)
select s.model, m.opened_by from vector_serving s
join vector_models m on m.kb_id = s.kb_id and m.model = s.model
where s.kb_id = %(kb_id)s

-- name: serving_first
insert into vector_serving (kb_id, model) values (%(kb_id)s, %(model)s) on conflict do nothing

-- name: serving_take_over
-- The model serves from now on if every passage has a vector of it, but for those that no attempt could give one; and if
-- it has an index where the model before it has one. One statement, so that no search sees a moment between the two.
update vector_serving s set model = %(model)s, since = clock_timestamp()
where s.kb_id = %(kb_id)s and s.model <> %(model)s
  and not exists (
      select from chunks c
      where c.kb_id = %(kb_id)s
        and not exists (select from embeddings e
                        where e.kb_id = c.kb_id and e.model = %(model)s and e.chunk_id = c.id)
        and not exists (select from work w
                        where w.kb_id = c.kb_id and w.stage = 'embed' and w.item_id = c.id
                          and w.code_version = %(model)s and w.state in ('failed', 'quarantined')))
  and (%(indexed)s or not exists (
      select from pg_class x join pg_index i on i.indexrelid = x.oid and i.indisvalid
      join pg_namespace n on n.oid = x.relnamespace
      where n.nspname = current_schema()
        and x.relname = 'embeddings_hnsw_' || left(encode(sha256(convert_to(s.kb_id || '/' || s.model, 'UTF8')), 'hex'), 24)))

-- name: serving_unread
-- Passages without a vector of a model, the newest first.
select c.id from chunks c
where c.kb_id = %(kb_id)s
  and not exists (select from embeddings e where e.kb_id = c.kb_id and e.model = %(model)s and e.chunk_id = c.id)
order by c.recorded_seq desc, c.id limit %(most)s

-- name: embed_keep_known
-- Passages whose very text the model has read before get the same vector again; returns which.
insert into embeddings (kb_id, chunk_id, model, embedding, text_sha256)
select %(kb_id)s, n.chunk_id, %(model)s, k.embedding, n.digest
from unnest(%(ids)s::uuid[], %(digests)s::bytea[]) as n (chunk_id, digest)
cross join lateral (
    select e.embedding from embeddings e
    where e.kb_id = %(kb_id)s and e.model = %(model)s and e.text_sha256 = n.digest limit 1
) k
on conflict do nothing
returning chunk_id

-- name: embed_keep
insert into embeddings (kb_id, chunk_id, model, embedding, text_sha256)
values (%(kb_id)s, %(chunk_id)s, %(model)s, %(embedding)s, %(digest)s) on conflict do nothing

-- name: retrieval_passages
-- What an answer shows of its candidates, for those that were held at the moment. The closing columns tell what
-- became of them since.
select c.id as chunk_id, c.document_id, c.version_id, c.position as seq, v.filename, c.heading_path, c.namespace,
       substr(c.text, 1, %(cut)s) as text, char_length(c.text) > %(cut)s as truncated,
       coalesce(v.doc_time, p.doc_time) as doc_time,
       coalesce(v.doc_time_precision, p.doc_time_precision) as doc_time_precision,
       c.invalidated_seq, c.invalidated_at, c.invalidated_kind
from chunks c
join document_versions v on v.kb_id = c.kb_id and v.id = c.version_id
left join parse_results p on p.kb_id = c.kb_id and p.version_id = c.version_id and p.parser = c.parser
where c.kb_id = %(kb_id)s and c.id = any(%(ids)s) and [[held c]]
