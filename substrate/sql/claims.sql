-- name: claims_of_chunks
-- Claims without mood of these chunks by one extractor, in reading order, where the chunk is held now.
select c.*, d.kind as document_kind, d.namespace, k.document_id, k.version_id, v.author,
       coalesce(v.doc_time, p.doc_time) as attested_at,
       exists (select from mentions m where m.kb_id = c.kb_id and m.claim_id = c.id) as mentioned
from claims c
join chunks k on k.kb_id = c.kb_id and k.id = c.chunk_id
join documents d on d.kb_id = k.kb_id and d.id = k.document_id
join document_versions v on v.kb_id = k.kb_id and v.id = k.version_id
left join parse_results p on p.kb_id = k.kb_id and p.version_id = k.version_id and p.parser = k.parser
where c.kb_id = %(kb_id)s and c.chunk_id = any(%(ids)s) and c.extractor = %(extractor)s and c.mood is null
  and [[held k]]
order by k.document_id, k.position, c.ordinal

-- name: mentions_of_claims
-- What the mentions in these claims mean now.
select m.claim_id, m.role, coalesce(v.entity_id, m.entity_id) as entity_id, m.surface
from mentions m
left join lateral (select w.entity_id from mention_moves w
                   where w.kb_id = m.kb_id and w.claim_id = m.claim_id and w.role = m.role
                   order by w.recorded_seq desc limit 1) v on true
where m.kb_id = %(kb_id)s and m.claim_id = any(%(ids)s)

-- name: proposed_claims
select claim_id from pending_facts where kb_id = %(kb_id)s and claim_id = any(%(ids)s)

-- name: waiting_claims
-- Proposals that wait, each with the claim beneath it, oldest first.
select p.id, p.predicate_key, p.proposed_by, p.recorded_at, c.subject, c.subject_kind, c.phrase, c.object, c.object_kind,
       c.value_raw, c.value_number, c.value_unit, c.value_type, c.quote, c.valid_from, c.valid_from_precision,
       c.valid_to, c.valid_to_precision, p.document_id, p.chunk_id
from pending_facts p join claims c on c.kb_id = p.kb_id and c.id = p.claim_id
where p.kb_id = %(kb_id)s and p.invalidated_seq is null
order by p.recorded_seq, p.id

-- name: versions_replaced_by
-- Superseded versions with statements in force whose document has no held chunk left that the facts stage has still
-- to read, these chunks aside. A chunk that failed for good says nothing and holds nothing up. Each document is looked
-- at once, however many of its chunks are among these: a join with the chunks took seconds for each batch of a document
-- of two hundred.
with mine as materialized (
    select distinct m.document_id from chunks m
    where m.kb_id = %(kb_id)s and m.id = any(%(chunk_ids)s) and [[held m]]
), replaced as materialized (
    select v.id, v.document_id from mine
    join document_versions v on v.kb_id = %(kb_id)s and v.document_id = mine.document_id
    where v.invalidated_kind = 'superseded'
      and exists (select from assertions a where a.kb_id = v.kb_id and a.version_id = v.id and a.invalidated_seq is null)
)
select r.id as version_id from replaced r
where not exists (
      select from chunks k
      where k.kb_id = %(kb_id)s and k.document_id = r.document_id and [[held k]] and k.id <> all(%(chunk_ids)s)
        and not exists (
            select from work w
            where w.kb_id = k.kb_id and w.item_id = k.id
              and (w.stage = 'facts' and w.state <> 'due'
                   or w.stage in ('claims', 'entities') and w.state in ('failed', 'quarantined'))))
