-- name: statements_of_base
-- What the held passages of a base state, plans and doubts included, each with the day its document attests and, where
-- it has reached the ledger, what the ledger was told. In reading order.
select v.filename, c.subject, c.phrase, c.object, c.value_raw, c.quote, c.mood, c.grade, c.time_words,
       coalesce(a.stated_from, c.valid_from) as valid_from, c.valid_from_precision, c.valid_to, c.valid_to_precision,
       a.id is not null as in_ledger,
       case when a.id is not null then a.attested_at else coalesce(v.doc_time, p.doc_time) end as attested_at
from claims c
join chunks k on k.kb_id = c.kb_id and k.id = c.chunk_id
join document_versions v on v.kb_id = k.kb_id and v.id = k.version_id
left join parse_results p on p.kb_id = k.kb_id and p.version_id = k.version_id and p.parser = k.parser
left join assertions a on a.kb_id = c.kb_id and a.claim_id = c.id and a.source_key = 'claim:' || c.id
     and a.invalidated_seq is null
where c.kb_id = %(kb_id)s and [[held k]]
order by v.filename, k.position, c.ordinal
