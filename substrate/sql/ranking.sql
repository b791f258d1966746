-- name: ranking_passages
-- The candidates that are held at the moment, each with the likeness of its vector to the question's (null where there is
-- none), and the passage before each in its version (`asked` false, its last character alone); in order. The question's
-- vector is read once in a sub-select: in a plan for any values it would be read from its text for every row, 0.2 ms each.
with asked as materialized (
    select c.id, c.version_id, c.parser, c.position, left(c.text, %(cut)s) as text, right(rtrim(c.text), 1) as last
    from chunks c
    where c.kb_id = %(kb_id)s and c.id = any(%(ids)s) and [[held c]]
), told as materialized (
    select a.version_id, a.parser, v.author, coalesce(v.doc_time, p.doc_time) as doc_time
    from (select distinct version_id, parser from asked) a
    join document_versions v on v.kb_id = %(kb_id)s and v.id = a.version_id
    left join parse_results p on p.kb_id = %(kb_id)s and p.version_id = a.version_id and p.parser = a.parser
), beside as materialized (
    select version_id, parser, position - 1 as position from asked
    except
    select version_id, parser, position from asked
)
select a.id, a.version_id, a.parser, a.position, true as asked, a.text, a.last, t.author, t.doc_time,
       -(e.embedding <#> (select %(vector)s::vector)) as similarity
from asked a
join told t on t.version_id = a.version_id and t.parser = a.parser
left join embeddings e on e.kb_id = %(kb_id)s and e.chunk_id = a.id and e.model = %(model)s
                      and %(vector)s::text is not null
union all
select c.id, c.version_id, c.parser, c.position, false, '', right(rtrim(c.text), 1), '', null, null
from beside b
join chunks c on c.kb_id = %(kb_id)s and c.version_id = b.version_id and c.parser = b.parser
             and c.position = b.position and [[held c]]
order by version_id, parser, position
