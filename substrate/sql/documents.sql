-- name: documents_ensure_source
insert into sources (kb_id, kind, name, config) values (%(kb_id)s, %(kind)s, %(name)s, %(config)s)
on conflict (kb_id, kind, name) do nothing

-- name: documents_source
select id from sources where kb_id = %(kb_id)s and kind = %(kind)s and name = %(name)s

-- name: documents_folder_sources
-- The folders of every base, for the sensor that watches them.
select k.slug, s.kb_id, s.name, s.config from sources s join kb k on k.id = s.kb_id
where s.kind = 'folder' and not s.config ? 'let_go' order by k.slug, s.name

-- name: documents_let_go
update sources set config = config || '{"let_go": true}'
where kb_id = %(kb_id)s and kind = 'folder' and name = %(name)s and not config ? 'let_go' returning id

-- name: documents_take_up_again
update sources set config = config - 'let_go' where kb_id = %(kb_id)s and id = %(source_id)s and config ? 'let_go'

-- name: documents_known_blobs
select sha256 from blobs where kb_id = %(kb_id)s and sha256 = any(%(hashes)s)

-- name: documents_keep_blob
insert into blobs (kb_id, sha256, content) values (%(kb_id)s, %(sha256)s, %(content)s) on conflict do nothing

-- name: documents_newest_versions
-- Documents of a source with their newest version, whatever became of it.
select d.id as document_id, d.external_id, d.namespace, d.missing_at, v.id as version_id, v.number,
       v.content_sha256, v.doc_time, v.doc_time_precision, v.invalidated_kind
from documents d
join lateral (
    select * from document_versions v where v.kb_id = d.kb_id and v.document_id = d.id
    order by v.number desc limit 1
) v on true
where d.kb_id = %(kb_id)s and d.source_id = %(source_id)s and d.external_id = any(%(external_ids)s)

-- name: documents_found_again
update documents set missing_at = null where kb_id = %(kb_id)s and id = any(%(ids)s) and missing_at is not null

-- name: documents_mark_missing
-- Documents of a source that were not among those seen; deleting them is somebody's verb.
update documents d set missing_at = clock_timestamp()
where d.kb_id = %(kb_id)s and d.source_id = %(source_id)s and d.missing_at is null
  and not d.external_id = any(%(seen)s)
  and exists (select from document_versions v
              where v.kb_id = d.kb_id and v.document_id = d.id and v.invalidated_seq is null)
returning d.external_id

-- name: documents_by_external_id
select id as document_id, external_id from documents
where kb_id = %(kb_id)s and external_id = %(external_id)s order by id

-- name: documents_by_id
select id as document_id, external_id from documents where kb_id = %(kb_id)s and id = %(document_id)s

-- name: documents_held_versions
-- Held versions of a document below a version number, oldest first; null: all of them.
select id, number from document_versions
where kb_id = %(kb_id)s and document_id = %(document_id)s and invalidated_seq is null
  and (%(below)s::integer is null or number < %(below)s) order by number

-- name: documents_asserting_versions
-- Versions of a document, held or not, whose statements are still in force.
select distinct version_id as id from assertions
where kb_id = %(kb_id)s and document_id = %(document_id)s and invalidated_seq is null and version_id is not null

-- name: documents_held_chunks
-- Held chunks of some versions.
select id, version_id from chunks
where kb_id = %(kb_id)s and version_id = any(%(version_ids)s) and invalidated_seq is null order by position, id

-- name: documents_of_transaction
-- What one transaction of `remember` made, for a call that is repeated with its idempotency key.
select c.document_id, c.id as chunk_id, c.recorded_seq as seq from chunks c
where c.kb_id = %(kb_id)s and c.recorded_seq = %(seq)s and c.parser = %(parser)s

-- name: documents_to_parse
-- Leased versions without their bytes.
select v.id, v.document_id, v.number, v.filename, v.media_type, v.doc_time, v.doc_time_precision,
       v.content_sha256, v.invalidated_seq, d.kind, d.external_id, d.namespace
from document_versions v
join documents d on d.kb_id = v.kb_id and d.id = v.document_id
where v.kb_id = %(kb_id)s and v.id = any(%(ids)s)

-- name: documents_blob
select content from blobs where kb_id = %(kb_id)s and sha256 = %(sha256)s

-- name: documents_standing
-- Of some versions: is it still held, has it chunks of this parser, and has a later version of its document landed?
select v.id, v.document_id, v.number, v.invalidated_seq is null as held,
       exists (select from chunks c where c.kb_id = v.kb_id and c.version_id = v.id
                 and c.parser = any(%(parsers)s)) as landed,
       exists (select from document_versions later
               join chunks c on c.kb_id = later.kb_id and c.version_id = later.id
               where later.kb_id = v.kb_id and later.document_id = v.document_id
                 and later.number > v.number) as overtaken
from document_versions v where v.kb_id = %(kb_id)s and v.id = any(%(ids)s)

-- name: documents_parse_result
insert into parse_results (kb_id, version_id, parser, title, media_type, doc_time, doc_time_precision,
                           doc_time_source, failure_code, failure)
values (%(kb_id)s, %(version_id)s, %(parser)s, %(title)s, %(media_type)s, %(doc_time)s, %(doc_time_precision)s,
        %(doc_time_source)s, %(failure_code)s, %(failure)s)
on conflict (kb_id, version_id, parser) do nothing
