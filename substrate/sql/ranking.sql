-- name: ranking_passages
-- The candidates that are held at the moment, and beside each the passages before and after it in its version
-- (`asked` false), with the likeness of their vectors to the question's, null where there is none.
with asked as (
    select c.version_id, c.parser, c.position from chunks c
    where c.kb_id = %(kb_id)s and c.id = any(%(ids)s) and [[held c]]
), around as (
    select distinct a.version_id, a.parser, a.position + o.n as position from asked a cross join (values (-1), (0), (1)) o (n)
)
select c.id, c.version_id, c.parser, c.position, c.id = any(%(ids)s) as asked, left(c.text, %(cut)s) as text,
       right(rtrim(c.text), 1) as last, v.author, coalesce(v.doc_time, p.doc_time) as doc_time,
       -(e.embedding <#> %(vector)s::vector) as similarity
from around a
join chunks c on c.kb_id = %(kb_id)s and c.version_id = a.version_id and c.parser = a.parser
             and c.position = a.position and [[held c]]
join document_versions v on v.kb_id = c.kb_id and v.id = c.version_id
left join parse_results p on p.kb_id = c.kb_id and p.version_id = c.version_id and p.parser = c.parser
left join embeddings e on e.kb_id = c.kb_id and e.chunk_id = c.id and e.model = %(model)s
                      and %(vector)s::text is not null
order by c.version_id, c.parser, c.position
