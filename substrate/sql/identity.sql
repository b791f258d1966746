-- Who is who: sightings of names, what is compared with what, and what people said of two entities.

-- name: identity_passages
-- The held passages of the documents that these chunks belong to.
select k.id, k.document_id, k.text from chunks k
where k.kb_id = %(kb_id)s and [[held k]]
  and k.document_id in (select c.document_id from chunks c where c.kb_id = %(kb_id)s and c.id = any(%(ids)s))
order by k.document_id, k.position

-- name: identity_take_sightings
-- What documents tell now of the names in them, in place of what they told; where a name stands stays.
insert into identity_profiles as p (kb_id, document_id, norm, surface, kind, signature, features)
select %(kb_id)s, s.document_id, s.norm, s.surface, s.kind, s.signature, s.features
from jsonb_to_recordset(%(rows)s::jsonb)
     as s (document_id uuid, norm text, surface text, kind text, signature text, features text[])
on conflict (kb_id, document_id, norm) do update
set surface = excluded.surface, kind = excluded.kind, signature = excluded.signature, features = excluded.features,
    held = true
where (p.surface, p.kind, p.signature, p.features, p.held)
      is distinct from (excluded.surface, excluded.kind, excluded.signature, excluded.features, true)
returning p.norm

-- name: identity_drop_sightings
-- Sightings of names that these documents use no more.
delete from identity_profiles p
where p.kb_id = %(kb_id)s and p.document_id = any(%(documents)s)
  and not exists (select from unnest(%(documents)s::uuid[], %(norms)s::text[]) as s (document_id, norm)
                  where s.document_id = p.document_id and s.norm = p.norm)
returning p.norm

-- name: identity_take_keys
insert into identity_keys (kb_id, key, norm)
select %(kb_id)s, k.key, k.norm from unnest(%(keys)s::text[], %(norms)s::text[]) as k (key, norm)
on conflict do nothing

-- name: identity_neighbours
-- Names that share a key with one of these.
select distinct other.norm
from identity_keys mine join identity_keys other on other.kb_id = mine.kb_id and other.key = mine.key
where mine.kb_id = %(kb_id)s and mine.norm = any(%(norms)s)

-- name: identity_profiles_of_names
-- Every held sighting of these names, those with one signature taken together.
select p.norm, p.signature, min(p.surface) as surface, min(p.kind) as kind, count(distinct p.document_id) as documents,
       coalesce(array_agg(distinct f.feature) filter (where f.feature is not null), '{}') as features,
       coalesce(array_agg(distinct p.entity_id) filter (where p.entity_id is not null), '{}') as entities
from identity_profiles p left join lateral unnest(p.features) as f (feature) on true
where p.kb_id = %(kb_id)s and p.norm = any(%(norms)s) and p.held
group by p.norm, p.signature

-- name: identity_place_sightings
-- Sightings that had no entity get one.
update identity_profiles p set entity_id = s.entity_id
from unnest(%(norms)s::text[], %(signatures)s::text[], %(entities)s::uuid[]) as s (norm, signature, entity_id)
where p.kb_id = %(kb_id)s and p.norm = s.norm and p.signature = s.signature and p.entity_id is null

-- name: identity_places
select document_id, norm, entity_id from identity_profiles
where kb_id = %(kb_id)s and document_id = any(%(documents)s)

-- name: identity_mark
-- These names are settled, or have to be.
update identity_profiles set unsettled = %(unsettled)s
where kb_id = %(kb_id)s and norm = any(%(norms)s) and unsettled <> %(unsettled)s

-- name: identity_unsettled
select distinct norm from identity_profiles where kb_id = %(kb_id)s and unsettled order by norm limit %(limit)s

-- name: identity_documents_gone_or_back
-- Sightings of documents that were deleted or came back since they were last looked at, which are marked so.
update identity_profiles p set held = not p.held
where p.kb_id = %(kb_id)s
  and p.document_id in (select document_id from document_deletions where kb_id = %(kb_id)s
                        union select document_id from document_restorations where kb_id = %(kb_id)s)
  and p.held <> exists (select from document_versions v
                        where v.kb_id = p.kb_id and v.document_id = p.document_id and v.invalidated_seq is null)
returning p.norm, p.entity_id

-- name: identity_forget_document
delete from identity_profiles where kb_id = %(kb_id)s and document_id = %(document_id)s returning norm, entity_id

-- name: identity_forget_keys
-- Keys of names that no document uses any more.
delete from identity_keys k
where k.kb_id = %(kb_id)s and k.norm = any(%(norms)s)
  and not exists (select from identity_profiles p where p.kb_id = k.kb_id and p.norm = k.norm)

-- name: identity_unsighted
-- Of these entities, those that no held document stands on: made by a person, an import or a remembered sentence, or by a
-- document that was deleted since, whose restoration finds them again.
select i.id from unnest(%(ids)s::uuid[]) as i (id)
where not exists (select from identity_profiles p where p.kb_id = %(kb_id)s and p.entity_id = i.id and p.held)

-- name: identity_entities
select id, label, recorded_seq from entities where kb_id = %(kb_id)s and id = any(%(ids)s) order by recorded_seq, id

-- name: identity_told_apart
-- Pairs of entities, one of these at least, that a person said are two: in so many words, or by parting them.
select d.one_id, d.other_id from distinctions d
where d.kb_id = %(kb_id)s and d.invalidated_seq is null and (d.one_id = any(%(ids)s) or d.other_id = any(%(ids)s))
union
select m.kept_id, m.absorbed_id
from merges m
join reverts r on r.kb_id = m.kb_id and r.merge_id = m.id
join ledger_transaction t on t.kb_id = r.kb_id and t.seq = r.recorded_seq and t.actor <> 'pipeline'
where m.kb_id = %(kb_id)s and (m.kept_id = any(%(ids)s) or m.absorbed_id = any(%(ids)s))

-- name: identity_automatic_merges
-- Merges in force that nobody but the pipeline made, on these entities, the last first.
select m.id, m.kept_id, m.absorbed_id
from merges m join ledger_transaction t on t.kb_id = m.kb_id and t.seq = m.recorded_seq and t.actor = 'pipeline'
where m.kb_id = %(kb_id)s and (m.kept_id = any(%(ids)s) or m.absorbed_id = any(%(ids)s))
  and not exists (select from reverts r where r.kb_id = m.kb_id and r.merge_id = m.id)
order by m.recorded_seq desc, m.id desc

-- name: identity_sightings_on
-- Documents in which a profile's name was placed on an entity.
select p.norm, p.signature, p.entity_id, p.document_id from identity_profiles p
join unnest(%(norms)s::text[], %(signatures)s::text[], %(entities)s::uuid[]) as s (norm, signature, entity_id)
  on s.norm = p.norm and s.signature = p.signature and s.entity_id = p.entity_id
where p.kb_id = %(kb_id)s order by p.norm, p.document_id

-- name: identity_move_sightings
update identity_profiles p set entity_id = s.entity_id
from unnest(%(documents)s::uuid[], %(norms)s::text[], %(entities)s::uuid[]) as s (document_id, norm, entity_id)
where p.kb_id = %(kb_id)s and p.document_id = s.document_id and p.norm = s.norm

-- name: identity_mentions_of_documents
-- Where the mentions in these documents stand now, those of passages held no more too.
select m.claim_id, m.role, m.surface, coalesce(v.entity_id, m.entity_id) as entity_id, c.chunk_id, c.extractor,
       k.document_id, k.invalidated_seq is null as held
from chunks k
join claims c on c.kb_id = k.kb_id and c.chunk_id = k.id
join mentions m on m.kb_id = c.kb_id and m.claim_id = c.id
left join lateral (select w.entity_id from mention_moves w
                   where w.kb_id = m.kb_id and w.claim_id = m.claim_id and w.role = m.role
                   order by w.recorded_seq desc limit 1) v on true
where k.kb_id = %(kb_id)s and k.document_id = any(%(documents)s)

-- name: identity_assertions_of_claims
-- Live assertions of these claims, each with whether a person had a say in what becomes of it.
select a.*, exists (select from withheld w where w.kb_id = a.kb_id and w.assertion_id = a.id and w.invalidated_seq is null)
            or exists (select from evidence e
                       join facts f on f.kb_id = e.kb_id and f.lineage_id = e.lineage_id
                       join corrections r on r.kb_id = f.kb_id and r.fact_id = f.id and r.invalidated_seq is null
                       where e.kb_id = a.kb_id and e.assertion_id = a.id and e.invalidated_seq is null) as judged
from assertions a
where a.kb_id = %(kb_id)s and a.claim_id = any(%(ids)s) and a.invalidated_seq is null

-- name: identity_doubts_on
select id, one_id, other_id, score, reasons from doubts
where kb_id = %(kb_id)s and invalidated_seq is null and (one_id = any(%(ids)s) or other_id = any(%(ids)s))

-- name: identity_doubt_of_id
select id, one_id, other_id, score, reasons, invalidated_seq from doubts where kb_id = %(kb_id)s and id = %(id)s

-- name: identity_distinction_of_id
select id, one_id, other_id, invalidated_seq from distinctions where kb_id = %(kb_id)s and id = %(id)s

-- name: identity_distinction_of_pair
select id from distinctions
where kb_id = %(kb_id)s and one_id = %(one_id)s and other_id = %(other_id)s and invalidated_seq is null

-- name: identity_names_of_entities
-- Under which names documents use these entities.
select distinct norm from identity_profiles where kb_id = %(kb_id)s and entity_id = any(%(ids)s)

-- name: reads_doubts
-- Pairs in doubt by the moment, the likeliest first.
with open as (
    select d.* from doubts d
    left join entity_canonical c on c.kb_id = d.kb_id and c.entity_id = d.one_id and [[held c]]
    left join entity_canonical e on e.kb_id = d.kb_id and e.entity_id = d.other_id and [[held e]]
    where d.kb_id = %(kb_id)s and [[held d]]
      and coalesce(c.canonical_id, d.one_id) <> coalesce(e.canonical_id, d.other_id)   -- not merged meanwhile
)
select totals.total, d.id, d.one_id, d.other_id, d.score, d.reasons, d.recorded_at, d.recorded_seq,
       a.label as one, b.label as other
from (select count(*) as total from open) totals
left join (select * from open order by score desc, recorded_seq, id limit %(limit)s offset %(offset)s) d on true
left join entities a on a.kb_id = d.kb_id and a.id = d.one_id
left join entities b on b.kb_id = d.kb_id and b.id = d.other_id
order by d.score desc, d.recorded_seq, d.id

-- name: reads_doubt_evidence
-- Some sentences about each of these entities as held by the moment: at most so many each, the surest first.
select e.id, s.quote, s.document_id, s.filename, s.phrase
from unnest(%(ids)s::uuid[]) as e (id)
join lateral (
    select a.quote, a.document_id, v.filename, a.phrase
    from assertions a left join document_versions v on v.kb_id = a.kb_id and v.id = a.version_id
    where a.kb_id = %(kb_id)s and (a.subject_id = e.id or a.object_id = e.id) and [[held a]]
      and a.predicate_key is distinct from 'known_as' and a.quote is not null
    order by a.confidence desc, a.recorded_seq, a.id limit %(each)s
) s on true
order by e.id

-- name: reads_distinctions
select d.id, d.one_id, d.other_id, d.why, d.recorded_at, d.recorded_seq, a.label as one, b.label as other, t.actor
from distinctions d
left join entities a on a.kb_id = d.kb_id and a.id = d.one_id
left join entities b on b.kb_id = d.kb_id and b.id = d.other_id
left join ledger_transaction t on t.kb_id = d.kb_id and t.seq = d.recorded_seq
where d.kb_id = %(kb_id)s and [[held d]]
order by d.recorded_seq desc, d.id

-- name: identity_where_names_stand
-- Every held sighting with the canonical entity that its name means now.
select d.external_id, p.norm, coalesce(c.canonical_id, p.entity_id) as entity_id
from identity_profiles p
join documents d on d.kb_id = p.kb_id and d.id = p.document_id
left join entity_canonical c on c.kb_id = p.kb_id and c.entity_id = p.entity_id and c.invalidated_seq is null
where p.kb_id = %(kb_id)s and p.held
order by d.external_id, p.norm

-- name: identity_counts
select (select count(*) from merges where kb_id = %(kb_id)s) as merges,
       (select count(*) from reverts where kb_id = %(kb_id)s and merge_id is not null) as reverts,
       (select count(*) from mention_moves where kb_id = %(kb_id)s) as moves,
       (select count(*) from doubts where kb_id = %(kb_id)s and invalidated_seq is null) as doubts

-- name: identity_votes_of
select question, votes from identity_votes where kb_id = %(kb_id)s and question = any(%(questions)s)

-- name: identity_keep_votes
insert into identity_votes (kb_id, question, votes) values (%(kb_id)s, %(question)s, %(votes)s::jsonb)
on conflict do nothing
