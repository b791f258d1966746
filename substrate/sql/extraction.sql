-- name: epoch_begin
-- A new epoch, unless the base is read by this extractor already. Of two that begin at once one stays.
insert into extraction_epochs (kb_id, number, extractor)
select %(kb_id)s, coalesce(max(number), 0) + 1, %(extractor)s from extraction_epochs where kb_id = %(kb_id)s
having (array_agg(extractor order by number desc))[1] is distinct from %(extractor)s
on conflict do nothing

-- name: epoch_latest
select number, extractor from extraction_epochs where kb_id = %(kb_id)s order by number desc limit 1

-- name: known_things
-- Per passage, what the same extractor found other passages of the document to speak of, most spoken of first.
with asked as (
    select c.id, c.version_id, c.parser from chunks c where c.kb_id = %(kb_id)s and c.id = any(%(ids)s::uuid[])),
said as (
    select o.version_id, o.parser, o.position, n.name, n.kind
    from (select distinct version_id, parser from asked) a
    join chunks o on o.kb_id = %(kb_id)s and o.version_id = a.version_id and o.parser = a.parser
    join claims x on x.kb_id = %(kb_id)s and x.chunk_id = o.id and x.extractor = %(extractor)s
    cross join lateral (values (x.subject, x.subject_kind), (x.object, x.object_kind)) as n (name, kind)
    where n.name is not null),
ranked as (
    select version_id, parser, name, min(kind) as kind,
           row_number() over (partition by version_id, parser order by count(*) desc, min(position), name) as place
    from said group by version_id, parser, name)
select a.id, array_agg(r.name order by r.place) as names, array_agg(r.kind order by r.place) as kinds
from asked a join ranked r using (version_id, parser) where r.place <= %(most)s group by a.id

-- name: keep_readings
-- Readings of chunks with the digest of what each gave; not those of chunks that this extractor has read before.
insert into extraction_usage (kb_id, chunk_id, extractor, prompt_tokens, completion_tokens, claims, drops, content)
select %(kb_id)s, r.chunk_id, %(extractor)s, r.prompt_tokens, r.completion_tokens, r.claims, r.drops, r.content
from unnest(%(chunk_ids)s::uuid[], %(prompt_tokens)s::integer[], %(completion_tokens)s::integer[],
            %(claims)s::integer[], %(drops)s::integer[], %(contents)s::bytea[])
     as r (chunk_id, prompt_tokens, completion_tokens, claims, drops, content)
on conflict do nothing
returning chunk_id
