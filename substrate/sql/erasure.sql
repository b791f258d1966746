-- What a purge leaves. One query for each table that holds words of documents, named for it.

-- name: erasure_purge_document
-- Blanks the document's rows and returns the events of the log that say what they said.
select place_table, place_id, place_seq, place_ordinal from purge_document(%(kb_id)s, %(purge_id)s)

-- name: erasure_left_documents
select * from documents where kb_id = %(kb_id)s and id = any(%(ids)s)

-- name: erasure_left_document_versions
select * from document_versions where kb_id = %(kb_id)s and id = any(%(ids)s)

-- name: erasure_left_chunks
select * from chunks where kb_id = %(kb_id)s and id = any(%(ids)s)

-- name: erasure_left_assertions
select * from assertions where kb_id = %(kb_id)s and id = any(%(ids)s)

-- name: erasure_left_facts
select * from facts where kb_id = %(kb_id)s and id = any(%(ids)s)

-- name: erasure_left_entities
select * from entities where kb_id = %(kb_id)s and id = any(%(ids)s)

-- name: erasure_left_mentions
select * from mentions where kb_id = %(kb_id)s and claim_id = any(%(ids)s)

-- name: erasure_left_refusals
select * from refusals where kb_id = %(kb_id)s and id = any(%(ids)s)

-- name: erasure_left_refusal_restatements
select * from refusal_restatements
where kb_id = %(kb_id)s and refusal_id = any(%(ids)s) and document_id = %(document_id)s and source_key like 'purged:%%'

-- name: erasure_left_conflicts
select * from conflicts where kb_id = %(kb_id)s and id = any(%(ids)s)
