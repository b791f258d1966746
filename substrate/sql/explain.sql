-- Why a fact is held, and what the base goes by.

-- name: explain_evidence
-- Every statement that a lineage rested on at the moment: its words, where they stand, who read or said or confirmed it,
-- and what had become of the passage by then.
select a.id as assertion_id, a.quote, a.quote_start, a.quote_end, a.chunk_id, h.position, h.heading_path,
       a.document_id, d.filename, d.number as version, a.attested_at, a.wording, a.origin, a.denies, a.corrects, a.grade,
       c.extractor, t.seq, t.recorded_at, t.actor, t.via, p.id as pending_id, p.decided_by, p.invalidated_at as decided_at,
       p.why, p.proposed_by,
       case when h.id is null or [[held h]] then null else h.invalidated_kind end as passage
from evidence v
join assertions a on a.kb_id = v.kb_id and a.id = v.assertion_id
join ledger_transaction t on t.kb_id = a.kb_id and t.seq = a.recorded_seq
left join chunks h on h.kb_id = a.kb_id and h.id = a.chunk_id
left join document_versions d on d.kb_id = a.kb_id and d.id = a.version_id
left join claims c on c.kb_id = a.kb_id and c.id = a.claim_id
left join pending_facts p on p.kb_id = a.kb_id and p.claim_id = a.claim_id and p.verdict = 'confirmed'
where v.kb_id = %(kb_id)s and v.lineage_id = %(lineage_id)s and [[held v]]
order by a.recorded_seq, d.filename, a.quote_start, a.source_key, a.id

-- name: explain_proof
-- The events of the chained log that wrote and closed these rows, each looked for in its own transaction.
select w.id, l.seq, l.ordinal, l.kind, l.hash, l.prev_hash, t.head_hash
from unnest(%(ids)s::uuid[], %(seqs)s::bigint[], %(kinds)s::text[]) as w (id, seq, kind)
join ledger_transaction t on t.kb_id = %(kb_id)s and t.seq = w.seq
join ledger_log l on l.kb_id = %(kb_id)s and l.seq = w.seq and l.kind = w.kind
 and position(convert_to(case when w.kind = 'insert facts' then '"id":"' else '"' end || w.id || '"', 'UTF8')
              in l.payload) > 0
order by l.seq, l.ordinal, w.id

-- name: explain_row
-- The row asked for, and the row of its lineage that was held at the moment.
select f.id, f.lineage_id, f.subject_id, f.supersedes, f.recorded_seq,
       (select h.id from facts h where h.kb_id = f.kb_id and h.lineage_id = f.lineage_id and h.subject_id = f.subject_id
           and [[held h]] order by h.recorded_seq desc, h.id limit 1) as held_id
from facts f where f.kb_id = %(kb_id)s and f.id = %(fact_id)s and [[recorded f]]

-- name: rules_declared
-- What the base declared of its relations and classes at the moment, and how often each had been declared otherwise.
select t.key, t.kind, t.definition, t.recorded_seq, t.recorded_at,
       (select count(*) from ontology_terms o
        where o.kb_id = t.kb_id and o.key = t.key and [[recorded o]]) - 1 as redeclared
from ontology_terms t
where t.kb_id = %(kb_id)s and [[held t]]
order by t.kind, t.key

-- name: rules_refused
select count(*) as refused from refusals r where r.kb_id = %(kb_id)s and [[held r]]
