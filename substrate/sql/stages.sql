-- name: stage_passages
-- Leased chunks with what a reader of the document would know beside them. The document's own date is the one it came
-- with, else the one its content states.
select c.id, c.text, c.kind, c.heading_path, c.cells, c.invalidated_seq is null as held,
       d.kind as document_kind, d.external_id, v.filename, v.author, coalesce(p.title, '') as title,
       coalesce(v.doc_time, p.doc_time) as doc_time,
       case when v.doc_time is null then p.doc_time_precision else v.doc_time_precision end as doc_time_precision,
       -- How the sections that it lies in open, outermost first, where they did so in chunks before it.
       array(
           select t.text from (
               select distinct on (cardinality(o.heading_path)) cardinality(o.heading_path) as depth, o.text
               from chunks o
               where o.kb_id = c.kb_id and o.version_id = c.version_id and o.parser = c.parser
                 and cardinality(c.heading_path) > 1 and o.position < c.position and cardinality(o.heading_path) > 1
                 and o.heading_path = c.heading_path[1:cardinality(o.heading_path)]
                 and not exists (
                     select from chunks b
                     where b.kb_id = o.kb_id and b.version_id = o.version_id and b.parser = o.parser
                       and b.position = o.position - 1 and b.heading_path = o.heading_path)
               order by cardinality(o.heading_path), o.position desc) t
           order by t.depth) as openings
from chunks c
join documents d on d.kb_id = c.kb_id and d.id = c.document_id
join document_versions v on v.kb_id = c.kb_id and v.id = c.version_id
left join parse_results p on p.kb_id = c.kb_id and p.version_id = c.version_id and p.parser = c.parser
where c.kb_id = %(kb_id)s and c.id = any(%(ids)s)

-- name: stage_keep_embedding
insert into embeddings (kb_id, chunk_id, model, embedding)
values (%(kb_id)s, %(chunk_id)s, %(model)s, %(embedding)s) on conflict do nothing

-- name: stage_keep_claim
insert into claims (
    kb_id, id, chunk_id, extractor, ordinal, subject, subject_kind, phrase, wording, object, object_kind,
    value_raw, value_number, value_unit, value_type, qualifiers, quote, quote_start, quote_end,
    valid_from, valid_from_precision, valid_to, valid_to_precision, grade, time_words, at_event,
    mood, denies, corrects, confidence
) values (
    %(kb_id)s, %(id)s, %(chunk_id)s, %(extractor)s, %(ordinal)s, %(subject)s, %(subject_kind)s, %(phrase)s,
    %(wording)s, %(object)s, %(object_kind)s, %(value_raw)s, %(value_number)s, %(value_unit)s, %(value_type)s,
    %(qualifiers)s, %(quote)s, %(quote_start)s, %(quote_end)s, %(valid_from)s, %(valid_from_precision)s,
    %(valid_to)s, %(valid_to_precision)s, %(grade)s, %(time_words)s, %(at_event)s, %(mood)s, %(denies)s,
    %(corrects)s, %(confidence)s
)

-- name: stage_keep_drop
insert into extraction_drops (kb_id, chunk_id, extractor, ordinal, code, detail, example)
values (%(kb_id)s, %(chunk_id)s, %(extractor)s, %(ordinal)s, %(code)s, %(detail)s, %(example)s)

-- name: stage_quotes_not_in_chunk
-- Claims whose quote is not the words of their chunk at that place; there should be none.
select c.id, c.chunk_id, c.extractor, c.quote from claims c
join chunks k on k.kb_id = c.kb_id and k.id = c.chunk_id
where c.kb_id = %(kb_id)s and substr(k.text, c.quote_start + 1, c.quote_end - c.quote_start) <> c.quote
order by c.id limit %(most)s

-- name: stage_evidence_not_in_chunk
-- Held assertions whose quote is not the words of their chunk at that place; there should be none.
select a.id, a.chunk_id, a.quote from assertions a
join chunks k on k.kb_id = a.kb_id and k.id = a.chunk_id
where a.kb_id = %(kb_id)s and a.invalidated_seq is null and a.quote_start is not null
  and substr(k.text, a.quote_start + 1, a.quote_end - a.quote_start) <> a.quote
order by a.id limit %(most)s
