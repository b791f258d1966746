-- name: mark_of_documents
-- Each mark moves whenever the rows of its table do, and stays while they stay.
select concat_ws('.', count(*), max(recorded_seq), max(invalidated_seq)) as mark,
       count(*) filter (where invalidated_seq is null) as rows
from document_versions where kb_id = %(kb_id)s

-- name: mark_of_document_chunks
select concat_ws('.', count(*), max(recorded_seq), max(invalidated_seq)) as mark,
       count(*) filter (where invalidated_seq is null) as rows
from chunks where kb_id = %(kb_id)s

-- name: mark_of_chunk_embeddings
select concat_ws('.', count(*), string_agg(distinct model, ',' order by model)) as mark, count(*) as rows
from embeddings where kb_id = %(kb_id)s

-- name: mark_of_claims
select concat_ws('.', count(*), string_agg(distinct extractor, ',' order by extractor)) as mark,
       (select count(*) from claims where kb_id = %(kb_id)s) as rows
from extraction_usage where kb_id = %(kb_id)s

-- name: mark_of_entities
select concat_ws('.', (select count(*) from entities where kb_id = %(kb_id)s),
                 (select count(*) from mentions where kb_id = %(kb_id)s),
                 (select max(seq) from (
                     select max(recorded_seq) as seq from entity_canonical where kb_id = %(kb_id)s
                     union all
                     select max(invalidated_seq) from entity_canonical where kb_id = %(kb_id)s) m)) as mark,
       (select count(*) from entities where kb_id = %(kb_id)s) as rows

-- name: mark_of_facts
select concat_ws('.', count(*), max(f.recorded_seq), max(f.invalidated_seq),
                 (select count(*) from pending_facts p where p.kb_id = %(kb_id)s)) as mark,
       count(*) filter (where f.invalidated_seq is null) as rows
from facts f where f.kb_id = %(kb_id)s
