-- name: statements_document
select d.id from documents d join sources s on s.kb_id = d.kb_id and s.id = d.source_id
where d.kb_id = %(kb_id)s and s.kind = 'push' and s.name = %(source)s and d.external_id = %(external_id)s

-- name: statements_chunks
-- Passages of one pushed version, held or not, by the place of their item in the push.
select c.id, (c.anchor ->> 'statement')::integer as index from chunks c
where c.kb_id = %(kb_id)s and c.version_id = %(version_id)s and c.parser = %(parser)s order by c.position

-- name: statements_push_of_transaction
select p.document_id, p.version_id, p.body_sha256, v.number
from statement_pushes p join document_versions v on v.kb_id = p.kb_id and v.id = p.version_id
where p.kb_id = %(kb_id)s and p.recorded_seq = %(seq)s

-- name: statements_pushes
select count(*) over () as total, p.*, d.external_id, v.number
from statement_pushes p
join documents d on d.kb_id = p.kb_id and d.id = p.document_id
join document_versions v on v.kb_id = p.kb_id and v.id = p.version_id
where p.kb_id = %(kb_id)s and [[recorded p]] and (%(external_id)s::text is null or d.external_id = %(external_id)s)
order by p.recorded_seq desc, p.id limit %(limit)s offset %(offset)s
