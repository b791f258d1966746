-- name: retrieval_events
-- lint: axis, since it asks what changed in a window or became of a row later, not what was held.
-- The base's head in this snapshot beside each chunk that was written or closed in (after, upto], in the order in
-- which the index takes them; one row of nulls where nothing happened. A chunk that was written in the window
-- stands at its writing, with its whole interval: what is indexed up to a sequence is then complete up to it.
-- `before` and `after` are the ends of the passages around it, which were written with it.
select h.seq as head, e.*
from kb_head h
left join lateral (
    select c.id, c.document_id, c.namespace, c.text, c.heading_path, v.filename, v.author,
           coalesce(p.title, '') as title, coalesce(v.doc_time, p.doc_time) as doc_time, c.recorded_seq, c.invalidated_seq,
           case when c.recorded_seq > %(after)s then c.recorded_seq else c.invalidated_seq end as event_seq,
           array(select right(n.text, 600) from chunks n
                 where n.kb_id = c.kb_id and n.version_id = c.version_id and n.parser = c.parser
                   and n.position between c.position - 4 and c.position - 1 order by n.position) as before,
           array(select left(n.text, 600) from chunks n
                 where n.kb_id = c.kb_id and n.version_id = c.version_id and n.parser = c.parser
                   and n.position between c.position + 1 and c.position + 4 order by n.position) as after
    from chunks c
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
-- Exact: the chunks nearest to a vector, by inner product of unit vectors, among those held at the moment; then
-- those of `fresh` that no vector of the model exists for, with a null similarity; last a row without an id that
-- counts what waits for the embedding stage, no further than a thousand.
with nearest as (
    select c.id, -(e.embedding <#> %(vector)s::vector) as similarity
    from embeddings e
    join chunks c on c.kb_id = e.kb_id and c.id = e.chunk_id
    where e.kb_id = %(kb_id)s and e.model = %(model)s and [[held c]]
      and (%(namespace)s::text is null or c.namespace = %(namespace)s)
    order by e.embedding <#> %(vector)s::vector, c.id
    limit %(depth)s
)
select id, similarity, null::bigint as waiting from nearest
union all
select f.id, null, null from unnest(%(fresh)s::uuid[]) as f (id)
where not exists (select from embeddings e where e.kb_id = %(kb_id)s and e.model = %(model)s and e.chunk_id = f.id)
union all
select null, null, count(*) from (
    select 1 from work w
    where w.kb_id = %(kb_id)s and w.stage = 'embed' and w.state = 'due' and w.code_version = %(model)s limit 1000
) due
order by similarity desc nulls last, id

-- name: retrieval_nearest_indexed
-- The same over the base's HNSW index. Its dimension must be a literal for the expression to be the indexed one.
with nearest as materialized (
    select c.id, -(e.embedding::vector({dimension}) <#> %(vector)s::vector({dimension})) as similarity
    from embeddings e
    join chunks c on c.kb_id = e.kb_id and c.id = e.chunk_id
    where e.kb_id = {kb_id} and e.model = {model} and [[held c]]
      and (%(namespace)s::text is null or c.namespace = %(namespace)s)
    order by e.embedding::vector({dimension}) <#> %(vector)s::vector({dimension})
    limit %(depth)s
)
select id, similarity, null::bigint as waiting from nearest
union all
select f.id, null, null from unnest(%(fresh)s::uuid[]) as f (id)
where not exists (select from embeddings e where e.kb_id = {kb_id} and e.model = {model} and e.chunk_id = f.id)
union all
select null, null, count(*) from (
    select 1 from work w
    where w.kb_id = {kb_id} and w.stage = 'embed' and w.state = 'due' and w.code_version = {model} limit 1000
) due
order by similarity desc nulls last, id

-- name: retrieval_hnsw_settings
-- For this transaction: go on scanning until enough rows pass the filters; the order is mended by a sort outside.
select set_config('hnsw.iterative_scan', 'relaxed_order', true), set_config('hnsw.ef_search', '100', true),
       set_config('hnsw.max_scan_tuples', '100000', true), set_config('hnsw.scan_mem_multiplier', '4', true)

-- name: retrieval_vector_index
-- Whether an index of that name stands and may be used.
select i.indisvalid as valid from pg_class c join pg_index i on i.indexrelid = c.oid
join pg_namespace n on n.oid = c.relnamespace
where c.relname = %(name)s and n.nspname = current_schema()

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
-- Formatted with identifiers and literals by retrieval.vectors alone.
create index concurrently {name} on embeddings using hnsw ((embedding::vector({dimension})) vector_ip_ops)
where kb_id = {kb_id} and model = {model}

-- name: retrieval_drop_vector_index
drop index concurrently if exists {name}

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
