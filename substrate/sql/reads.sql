-- Reads of the ledger as of a moment of the record. Every column is a function of the question and `known_seq`,
-- but those named since_…, which tell what became of a row later.

-- name: reads_cluster_of_id
-- The cluster an entity id belonged to: its canonical id and the ids it was written with.
select t.id, array(select t.id union
                   select m.entity_id from entity_canonical m
                   where m.kb_id = %(kb_id)s and m.canonical_id = t.id and [[held m]]) as members
from (
    select coalesce(c.canonical_id, e.id) as id
    from entities e left join entity_canonical c on c.kb_id = e.kb_id and c.entity_id = e.id and [[held c]]
    where e.kb_id = %(kb_id)s and e.id = %(id)s and [[recorded e]]
) t

-- name: reads_named_exactly
-- The clusters that bear exactly this name, each with the ids it was written with: by a name held then, or by the one
-- they were first met under.
select t.id, array(select t.id union
                   select m.entity_id from entity_canonical m
                   where m.kb_id = %(kb_id)s and m.canonical_id = t.id and [[held m]]) as members
from (
    select distinct coalesce(c.canonical_id, n.id) as id
    from (
        select f.subject_id as id from facts f
        where f.kb_id = %(kb_id)s and f.predicate_key = 'known_as' and f.value_norm = %(norm)s and [[held f]]
        union
        select e.id from entities e where e.kb_id = %(kb_id)s and e.label_norm = %(norm)s and [[recorded e]]
    ) n
    left join entity_canonical c on c.kb_id = %(kb_id)s and c.entity_id = n.id and [[held c]]
) t
order by t.id

-- name: reads_find_entities
-- Candidates for a name. Tier 0: the whole name; 1: part of it; 2: enough of its words (asked for by `by_words`, with
-- the words as `patterns`). An entity without a held name or fact was not there.
with names as (
    select n.id, n.norm from names_like(%(kb_id)s, %(patterns)s) n where [[held n]]
), tiered as materialized (
    select coalesce(c.canonical_id, n.id) as id,
           min(case when n.norm = %(norm)s then 0
                    when not %(by_words)s then 1
                    when (select count(*) from unnest(%(words)s::text[]) w where strpos(n.norm, w) > 0)
                         >= greatest(2, cardinality(%(words)s::text[]) - 1) then 2
                    else 3 end) as tier
    from names n
    left join entity_canonical c on c.kb_id = %(kb_id)s and c.entity_id = n.id and [[held c]]
    group by 1
), members as materialized (
    select k.id, k.id as entity_id from tiered k where k.tier < 3
    union all
    select k.id, m.entity_id from tiered k
    join entity_canonical m on m.kb_id = %(kb_id)s and m.canonical_id = k.id and [[held m]] where k.tier < 3
), touching as (
    select m.id, f.id as fact_id, f.predicate_key is not distinct from 'known_as' as is_name
    from members m join facts f on f.kb_id = %(kb_id)s and f.subject_id = m.entity_id and [[held f]]
    union
    select m.id, f.id, false
    from members m join facts f on f.kb_id = %(kb_id)s and f.object_id = m.entity_id and [[held f]]
), counted as (
    select t.id, count(*) filter (where not t.is_name) as fact_count from touching t group by t.id
), page as materialized (
    select c.id, c.fact_count, k.tier, y.type_key, e.label, count(*) over () as total
    from counted c
    join tiered k on k.id = c.id
    join entities e on e.kb_id = %(kb_id)s and e.id = c.id
    cross join lateral (
        select array(select c.id union all
                     select m.entity_id from entity_canonical m
                     where m.kb_id = %(kb_id)s and m.canonical_id = c.id and [[held m]]) as ids
    ) cluster
    left join lateral (
        select w.type_key from (
            select h.type_key, 0 as rank, false as other, -h.recorded_seq as place from human_types h
            where h.kb_id = %(kb_id)s and h.entity_id = any(cluster.ids) and [[held h]]
            union all
            select y.type_key, case y.source when 'human' then 0 when 'inferred' then 1 else 2 end, y.entity_id <> c.id,
                   y.recorded_seq
            from entity_types y where y.kb_id = %(kb_id)s and y.entity_id = any(cluster.ids) and [[held y]]
        ) w
        order by w.rank, w.other, w.place, w.type_key limit 1
    ) y on true
    order by k.tier, y.type_key is null, c.fact_count desc, e.label, c.id
    limit %(limit)s
)
select t.id, t.tier, t.fact_count, t.type_key, t.total, t.label, coalesce(n.name, t.label) as name,
       coalesce(term.definition ->> 'label', t.type_key) as type_label, hint.predicate, hint.other, hint.direction
from page t
left join ontology_terms term on term.kb_id = %(kb_id)s and term.key = t.type_key and [[held term]]
left join lateral (
    select f.value_raw as name
    from members m join facts f on f.kb_id = %(kb_id)s and f.subject_id = m.entity_id
         and f.predicate_key = 'known_as' and [[held f]]
    where m.id = t.id
    order by f.holds_to is not null, f.subject_id <> t.id,
             (select count(*) from evidence v where v.kb_id = f.kb_id and v.lineage_id = f.lineage_id and [[held v]]) desc,
             f.recorded_seq, f.value_norm, f.id limit 1
) n on true
left join lateral (
    select coalesce(f.predicate_key, f.phrase) as predicate, coalesce(f.value_raw, o.label) as other, f.direction
    from (
        select f.*, 'out' as direction, f.object_id as other_end from members m
        join facts f on f.kb_id = %(kb_id)s and f.subject_id = m.entity_id and [[held f]]
        where m.id = t.id and f.predicate_key is distinct from 'known_as'
        union all
        select f.*, 'in', f.subject_id from members m
        join facts f on f.kb_id = %(kb_id)s and f.object_id = m.entity_id and [[held f]] where m.id = t.id
    ) f
    left join entities o on o.kb_id = f.kb_id and o.id = f.other_end
    order by f.recorded_seq, coalesce(f.predicate_key, f.phrase), f.id limit 1
) hint on true
order by t.tier, t.type_key is null, t.fact_count desc, t.label, t.id

-- name: reads_entity_card
-- One entity as it was: display name, every name held with its documents, type (what a person said last, else what was
-- inferred, else extracted); `present` is false when it had neither name nor fact yet.
with names as (
    select f.*, (select count(*) from evidence v
                 where v.kb_id = f.kb_id and v.lineage_id = f.lineage_id and [[held v]]) as support
    from facts f
    where f.kb_id = %(kb_id)s and f.subject_id = any(%(members)s) and f.predicate_key = 'known_as' and [[held f]]
), ranked as (
    select n.*, row_number() over (order by not [[holds n]], n.holds_to is not null, n.subject_id <> %(id)s,
                                            n.support desc, n.recorded_seq, n.value_norm, n.id) as rank
    from names n
)
select e.id, coalesce((select value_raw from ranked where rank = 1), e.label) as name, ty.type_key,
       coalesce(term.definition ->> 'label', ty.type_key) as type_label,
       exists (select from ranked)
       or exists (select from facts f where f.kb_id = %(kb_id)s and f.subject_id = any(%(members)s) and [[held f]])
       or exists (select from facts f where f.kb_id = %(kb_id)s and f.object_id = any(%(members)s) and [[held f]])
           as present,
       coalesce((
           select jsonb_agg(jsonb_build_object(
                      'fact_id', r.id, 'name', r.value_raw, 'canonical', r.rank = 1,
                      'recorded_at', to_char(r.recorded_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
                      'valid_from', to_char(r.valid_from at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
                      'valid_to', to_char(r.valid_to at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
                      'document_ids', coalesce((
                          select jsonb_agg(distinct a.document_id order by a.document_id)
                          from evidence v join assertions a on a.kb_id = v.kb_id and a.id = v.assertion_id
                          where v.kb_id = r.kb_id and v.lineage_id = r.lineage_id and [[held v]]
                            and a.document_id is not null), '[]'::jsonb)) order by r.rank)
           from ranked r), '[]'::jsonb) as names
from entities e
left join lateral (
    select w.type_key from (
        select h.type_key, 0 as rank, false as other, -h.recorded_seq as place from human_types h
        where h.kb_id = %(kb_id)s and h.entity_id = any(%(members)s) and [[held h]]
        union all
        select y.type_key, case y.source when 'human' then 0 when 'inferred' then 1 else 2 end, y.entity_id <> %(id)s,
               y.recorded_seq
        from entity_types y where y.kb_id = %(kb_id)s and y.entity_id = any(%(members)s) and [[held y]]
    ) w
    order by w.rank, w.other, w.place, w.type_key limit 1
) ty on true
left join ontology_terms term on term.kb_id = %(kb_id)s and term.key = ty.type_key and [[held term]]
where e.kb_id = %(kb_id)s and e.id = %(id)s

-- name: reads_entity_facts
-- lint: axis, since it asks what changed in a window or became of a row later, not what was held.
-- Facts that touch a cluster, one page of them, with both totals on every row (a row without id when none match).
-- `dated` keeps only facts whose words state a date, in world order. What is looked up per row is a subquery of one
-- index probe, so that the plan made once for every base stays a good one; names and evidence of the page are two
-- queries of their own.
with recursive mine as materialized (
    select f.*, 'out' as direction, f.object_id as other
    from facts f
    where f.kb_id = %(kb_id)s and f.subject_id = any(%(members)s) and [[held f]]
      and f.predicate_key is distinct from 'known_as'
    union all
    select f.*, 'in', f.subject_id
    from facts f
    where f.kb_id = %(kb_id)s and f.object_id = any(%(members)s) and [[held f]]
      and not f.subject_id = any(%(members)s)
), terms as materialized (
    select t.key, coalesce(t.definition ->> 'label', t.key) as label, t.definition -> 'aliases' as aliases,
           t.definition -> 'parents' as parents
    from ontology_terms t where t.kb_id = %(kb_id)s and [[held t]]
), beneath as (                                -- the class that is asked for, and every class under it
    select t.key from terms t
    where replace(lower(t.key), '_', ' ') = %(object_type)s or lower(t.label) = %(object_type)s
    union
    select t.key from terms t join beneath b on t.parents ? b.key
), seen as not materialized (
    select m.*, term.key is null as inferred, coalesce(term.label, m.predicate_key, m.phrase) as label, term.aliases
    from mine m left join terms term on term.key = m.predicate_key
), matched as materialized (
    select s.* from seen s
    where [[holds s]]
      and (%(predicate)s::text is null
           or strpos(replace(lower(coalesce(s.predicate_key, '')), '_', ' '), %(predicate)s) > 0
           or strpos(lower(s.label), %(predicate)s) > 0 or strpos(lower(s.phrase), %(predicate)s) > 0
           or coalesce(s.aliases, '[]') ? %(predicate)s)
      and (%(object_type)s::text is null or exists (
               select from (
                   select k.id, array(select k.id union all
                                      select m.entity_id from entity_canonical m
                                      where m.kb_id = %(kb_id)s and m.canonical_id = k.id and [[held m]]) as members
                   from (select coalesce((select c.canonical_id from entity_canonical c
                                          where c.kb_id = %(kb_id)s and c.entity_id = s.other and [[held c]]),
                                         s.other) as id) k
               ) cluster
               cross join lateral (
                   select w.type_key from (
                       select h.type_key, 0 as rank, false as other, -h.recorded_seq as place from human_types h
                       where h.kb_id = %(kb_id)s and h.entity_id = any(cluster.members) and [[held h]]
                       union all
                       select y.type_key, case y.source when 'human' then 0 when 'inferred' then 1 else 2 end,
                              y.entity_id <> cluster.id, y.recorded_seq
                       from entity_types y where y.kb_id = %(kb_id)s and y.entity_id = any(cluster.members) and [[held y]]
                   ) w
                   order by w.rank, w.other, w.place, w.type_key limit 1
               ) y
               where replace(lower(y.type_key), '_', ' ') = %(object_type)s
                  or y.type_key in (select b.key from beneath b)))
      and (%(since)s::timestamptz is null or s.holds_to is null or s.holds_to > %(since)s)
      and (%(until)s::timestamptz is null or s.holds_from is null or s.holds_from < %(until)s)
      and (not %(dated)s or s.valid_from is not null or s.valid_to is not null)
), page as materialized (
    select m.*, row_number() over (order by
               case when %(dated)s then coalesce(m.valid_from, m.valid_to) end,
               coalesce(m.predicate_key, m.phrase), m.direction, m.holds_from nulls first, m.recorded_seq,
               m.value_norm, m.id) as place
    from matched m
    order by place limit %(limit)s offset %(offset)s
)
select totals.*, p.id, p.lineage_id, p.direction, p.predicate_key, p.phrase, p.label, p.inferred, p.temporal,
       p.value_raw, p.value_norm, p.value_number, p.value_unit, p.value_type, p.confidence,
       nullif(p.qualifiers, '[]') as qualifiers,
       p.valid_from, p.valid_from_precision, p.valid_to, p.valid_to_precision, p.valid_to_origin,
       p.holds_from, p.holds_to, p.undated, p.attested_from, p.attested_to, p.grade, p.recorded_at, p.recorded_seq,
       p.supersedes,
       coalesce((select c.canonical_id from entity_canonical c
                 where c.kb_id = %(kb_id)s and c.entity_id = p.other and [[held c]]), p.other) as other_id,
       p.invalidated_at as since_invalidated_at, p.invalidated_kind as since_kind,
       case when p.invalidated_seq is not null then (
           select s.id from facts s
           where s.kb_id = %(kb_id)s and s.supersedes = p.id and s.recorded_seq = p.invalidated_seq
           order by s.id limit 1) end as since_superseded_by
from (
    select (select count(*) from mine) as total_facts, (select count(*) from matched) as matched_facts,
           case when (select count(*) from matched) = 0 then (
               select jsonb_agg(jsonb_build_object('key', g.key, 'label', g.label, 'count', g.n)
                                order by g.n desc, g.label, g.key)
               from (select s.predicate_key as key, s.label, count(*) as n from seen s
                     group by s.predicate_key, s.label order by count(*) desc, s.label, s.predicate_key limit 20) g
           ) end as predicates_present
) totals
left join page p on true
order by p.place

-- name: reads_evidence_of
-- What facts of these lineages rest on: the first three sources of each, with how many there are and, on the first, the
-- documents of all.
select q.* from (
    select v.lineage_id, a.quote, a.document_id, d.filename, a.chunk_id, a.attested_at, a.wording, a.origin,
           row_number() over ranked as place, count(*) over whole as evidence_count,
           case when row_number() over ranked = 1 then array_agg(a.document_id) over whole end as document_ids
    from evidence v
    join assertions a on a.kb_id = v.kb_id and a.id = v.assertion_id
    left join document_versions d on d.kb_id = a.kb_id and d.id = a.version_id
    where v.kb_id = %(kb_id)s and v.lineage_id = any(%(lineages)s) and [[held v]]
    window whole as (partition by v.lineage_id),
           ranked as (whole order by a.recorded_seq, d.filename, a.quote_start, a.source_key, a.id)
) q
where q.place <= 3
order by q.lineage_id, q.place

-- name: reads_names_of
-- Display names of clusters given by their canonical ids; at a moment of the world, one that held then comes first.
with members as (
    select i.id, i.id as entity_id from unnest(%(ids)s::uuid[]) as i (id)
    union all
    select x.canonical_id, x.entity_id from entity_canonical x
    where x.kb_id = %(kb_id)s and x.canonical_id = any(%(ids)s::uuid[]) and [[held x]]
), best as (
    select distinct on (m.id) m.id, f.value_raw as name
    from members m
    join facts f on f.kb_id = %(kb_id)s and f.subject_id = m.entity_id and f.predicate_key = 'known_as' and [[held f]]
    order by m.id, not [[holds f]], f.holds_to is not null, f.subject_id <> m.id,
             (select count(*) from evidence v
              where v.kb_id = f.kb_id and v.lineage_id = f.lineage_id and [[held v]]) desc,
             f.recorded_seq, f.value_norm, f.id
)
select e.id, coalesce(b.name, e.label) as name
from entities e left join best b on b.id = e.id
where e.kb_id = %(kb_id)s and e.id = any(%(ids)s::uuid[])

-- name: reads_changes
-- lint: axis, since it asks what changed in a window or became of a row later, not what was held.
-- What the ledger wrote or closed in a window of record time, newest first. The name under which an entity was
-- first met comes with the entity and is no news of its own; later names are.
with events as (
    select f.id as fact_id, 'asserted' as kind, f.recorded_seq as seq, f.recorded_at as at, null::uuid as merge_id
    from facts f
    where f.kb_id = %(kb_id)s and f.recorded_at >= %(since)s and f.recorded_at < %(until)s and f.recorded_seq <= %(seq)s
      and f.recorded_seq >= %(first_seq)s
      and not (f.predicate_key = 'known_as' and f.supersedes is null and exists (
                   select from entities e
                   where e.kb_id = f.kb_id and e.id = f.subject_id and e.recorded_seq = f.recorded_seq))
    union all
    select f.id,
           -- a person's refusal withdraws every statement of the triple, which closes the fact in the same transaction
           case when f.invalidated_kind = 'retracted' and exists (
                    select from refusals r
                    where r.kb_id = f.kb_id and r.recorded_seq = f.invalidated_seq
                      and r.predicate_key is not distinct from f.predicate_key and r.phrase = f.phrase)
                then 'rejected' else f.invalidated_kind end,
           f.invalidated_seq, f.invalidated_at, null
    from facts f
    where f.kb_id = %(kb_id)s and f.invalidated_at >= %(since)s and f.invalidated_at < %(until)s
      and f.invalidated_seq <= %(seq)s and f.invalidated_seq >= %(first_seq)s
    union all
    select null, 'merged', g.recorded_seq, g.recorded_at, g.id
    from merges g
    where g.kb_id = %(kb_id)s and g.recorded_at >= %(since)s and g.recorded_at < %(until)s
      and g.recorded_seq <= %(seq)s
    union all
    select null, 'parted', r.recorded_seq, r.recorded_at, r.merge_id
    from reverts r
    where r.kb_id = %(kb_id)s and r.recorded_at >= %(since)s and r.recorded_at < %(until)s
      and r.recorded_seq <= %(seq)s and r.merge_id is not null
), wanted as (
    select v.*, f.lineage_id, f.predicate_key, f.phrase, f.value_raw, f.value_norm, f.value_number, f.value_unit,
           f.value_type, f.confidence, f.valid_from, f.valid_from_precision, f.valid_to, f.valid_to_precision,
           f.supersedes, f.invalidated_seq, g.why,
           coalesce(f.subject_id, g.kept_id) as subject_id, coalesce(f.object_id, g.absorbed_id) as object_id
    from events v
    left join facts f on f.kb_id = %(kb_id)s and f.id = v.fact_id
    left join merges g on g.kb_id = %(kb_id)s and g.id = v.merge_id
    where (%(kinds)s::text[] is null or v.kind = any(%(kinds)s))
      and (%(members)s::uuid[] is null or f.subject_id = any(%(members)s) or f.object_id = any(%(members)s)
           or g.kept_id = any(%(members)s) or g.absorbed_id = any(%(members)s))
), page as materialized (
    select w.*, row_number() over (order by w.seq desc, w.kind, coalesce(w.predicate_key, w.phrase), w.value_norm,
                                            w.fact_id, w.merge_id) as place
    from wanted w
    order by place limit %(limit)s offset %(offset)s
)
select totals.total, p.*, coalesce(cs.canonical_id, p.subject_id) as subject_canonical,
       case when p.merge_id is null then coalesce(co.canonical_id, p.object_id) else p.object_id end as object_canonical,
       coalesce(term.definition ->> 'label', p.predicate_key, p.phrase) as predicate_label,
       ev.quote, ev.document_id, ev.filename,
       (select s.id from facts s where s.kb_id = %(kb_id)s and s.recorded_seq = p.invalidated_seq
           and s.supersedes = p.fact_id and p.kind = 'corrected' order by s.id limit 1) as superseded_by
from (select count(*) as total from wanted) totals
left join page p on true
left join entity_canonical cs on cs.kb_id = %(kb_id)s and cs.entity_id = p.subject_id and [[held cs]]
left join entity_canonical co on co.kb_id = %(kb_id)s and co.entity_id = p.object_id and [[held co]]
left join ontology_terms term on term.kb_id = %(kb_id)s and term.key = p.predicate_key and [[held term]]
left join lateral (
    select a.quote, a.document_id, d.filename
    from evidence v
    join assertions a on a.kb_id = v.kb_id and a.id = v.assertion_id
    left join document_versions d on d.kb_id = a.kb_id and d.id = a.version_id
    where v.kb_id = %(kb_id)s and v.lineage_id = p.lineage_id and v.recorded_seq <= p.seq
      and (v.invalidated_seq is null or v.invalidated_seq >= p.seq)
    order by v.recorded_seq desc, a.recorded_seq, d.filename, a.quote_start, a.source_key, a.id limit 1
) ev on p.fact_id is not null
order by p.place

-- name: reads_first_seq_at
-- The first transaction at or after a moment, so that the index over sequence numbers bounds the window.
select seq from ledger_transaction where kb_id = %(kb_id)s and recorded_at >= %(moment)s order by recorded_at limit 1

-- name: reads_document
-- A document as held at the moment. A version that is not parsed yet leaves the one before it in place, so that two
-- may be held: the newest that has text is read, and `waiting_version` names a newer one.
with held_versions as (
    select v.*, exists (select from chunks c where c.kb_id = v.kb_id and c.version_id = v.id and [[held c]]) as has_text
    from document_versions v
    where v.kb_id = %(kb_id)s and v.document_id = %(document_id)s and [[held v]]
)
select d.id, d.external_id, d.kind, d.namespace, d.missing_at, v.id as version_id, v.number, v.filename,
       v.author, v.recorded_at, coalesce(v.doc_time, r.doc_time) as doc_time,
       coalesce(v.doc_time_precision, r.doc_time_precision) as doc_time_precision,
       coalesce(nullif(r.title, ''), v.filename) as title, coalesce(v.media_type, r.media_type) as media_type,
       r.failure_code, r.failure, v.has_text or r.version_id is not null as parsed,
       (select max(w.number) from held_versions w where w.number > v.number) as waiting_version
from documents d
join lateral (select h.* from held_versions h order by h.has_text desc, h.number desc limit 1) v on true
left join lateral (
    select p.* from parse_results p where p.kb_id = v.kb_id and p.version_id = v.id
    order by p.finished_at desc, p.parser limit 1
) r on true
where d.kb_id = %(kb_id)s and d.id = %(document_id)s

-- name: reads_document_sections
-- Every section of a version in order, its text trimmed, with its place in the concatenation of all sections.
select s.*, coalesce(sum(length(s.text)) over (order by s.position rows between unbounded preceding and 1 preceding), 0)
           as start
from (
    select c.id, c.position, c.kind, c.heading_path, c.anchor, btrim(c.text, E' \t\r\n') as text
    from chunks c
    where c.kb_id = %(kb_id)s and c.version_id = %(version_id)s and [[held c]]
) s
order by s.position

-- name: reads_pending
-- Proposals held at the moment, oldest first, each with the sentence it came from and the fact it would become.
with waiting as (
    select p.* from pending_facts p where p.kb_id = %(kb_id)s and [[held p]]
)
select totals.total, p.id, p.predicate_key, p.proposed_by, p.namespace, p.recorded_at, p.recorded_seq, p.document_id,
       p.chunk_id, c.subject, c.phrase, c.object, c.value_raw, c.value_norm, c.value_number, c.value_unit, c.value_type,
       c.quote, c.valid_from, c.valid_from_precision, c.valid_to, c.valid_to_precision, c.time_words, c.confidence,
       h.text as sentence, v.filename, v.author, v.doc_time, t.actor as recorded_by, t.via,
       coalesce(term.definition ->> 'label', p.predicate_key, c.phrase) as predicate_label
from (select count(*) as total from waiting) totals
left join (select * from waiting order by recorded_seq, id limit %(limit)s offset %(offset)s) p on true
left join (select x.*, null::text as value_norm from claims x) c on c.kb_id = p.kb_id and c.id = p.claim_id
left join chunks h on h.kb_id = p.kb_id and h.id = p.chunk_id
left join document_versions v on v.kb_id = h.kb_id and v.id = h.version_id
left join ledger_transaction t on t.kb_id = h.kb_id and t.seq = h.recorded_seq
left join ontology_terms term on term.kb_id = p.kb_id and term.key = p.predicate_key and [[held term]]
order by p.recorded_seq, p.id

-- name: reads_documents
-- Documents held at the moment by file name: the version readers see, why a version could not be read, and which stages
-- did not get through with it as of now. Of an item's versions of the code the one that became due last counts.
with troubles as (
    select t.version_id, jsonb_agg(jsonb_build_object('stage', t.stage, 'state', t.state, 'code', t.failure_code,
                                                      'reason', t.failure, 'items', t.items)
                                   order by t.state = 'due', t.stage = 'parse' desc, t.stage, t.failure_code,
                                            t.failure) as failures,
           bool_or(t.stage = 'parse' and t.state <> 'due') as unread, bool_or(t.state <> 'due') as given_up
    from (
        select coalesce(c.version_id, w.item_id) as version_id, w.stage, w.state, w.failure_code, w.failure,
               count(*) as items
        from work w
        left join chunks c on w.stage <> 'parse' and c.kb_id = w.kb_id and c.id = w.item_id
        where w.kb_id = %(kb_id)s
          and (w.state in ('failed', 'quarantined') or w.state = 'due' and w.failure is not null)
          and not exists (select from work n
                          where n.kb_id = w.kb_id and n.stage = w.stage and n.item_id = w.item_id
                            and n.due_at > w.due_at)
        group by 1, 2, 3, 4, 5
    ) t
    group by t.version_id
), seen as (
    select d.id, d.external_id, d.kind, d.namespace, d.missing_at, s.kind as source_kind, s.name as source,
           v.id as version_id, v.number, v.filename, v.recorded_at, v.doc_time, v.doc_time_precision, v.media_type
    from documents d
    join sources s on s.kb_id = d.kb_id and s.id = d.source_id
    join lateral (
        select x.* from document_versions x where x.kb_id = d.kb_id and x.document_id = d.id and [[held x]]
        order by x.number desc limit 1
    ) v on true
    where d.kb_id = %(kb_id)s and (%(kind)s::text is null or d.kind = %(kind)s)
), judged as (
    select s.*, coalesce(r.failure_code, w.failures -> 0 ->> 'code') as failure_code,
           coalesce(r.failure, w.failures -> 0 ->> 'reason') as failure,
           coalesce(w.failures, '[]') as failures, coalesce(r.doc_time, s.doc_time) as known_doc_time,
           coalesce(r.doc_time_precision, s.doc_time_precision) as known_precision,
           nullif(r.title, '') as title, n.chunks,
           case when r.failure_code is not null or w.unread and r.version_id is null then 'failed'
                when w.given_up then 'incomplete'
                when r.version_id is not null or n.chunks > 0 then 'parsed' else 'waiting' end as state
    from seen s
    left join lateral (
        select p.* from parse_results p where p.kb_id = %(kb_id)s and p.version_id = s.version_id
        order by p.finished_at desc, p.parser limit 1
    ) r on true
    left join lateral (
        select count(*) as chunks from chunks c
        where c.kb_id = %(kb_id)s and c.version_id = s.version_id and [[held c]]
    ) n on true
    left join troubles w on w.version_id = s.version_id
), wanted as (
    select * from judged where %(state)s::text is null or state = %(state)s
)
select totals.*, p.*
from (select count(*) as total, count(*) filter (where state = 'failed') as failed from wanted) totals
left join (select * from wanted order by filename, external_id, id limit %(limit)s offset %(offset)s) p on true
order by p.filename, p.external_id, p.id

-- name: reads_refusals
-- Refusals in force at the moment, oldest first.
with refused as (
    select r.* from refusals r where r.kb_id = %(kb_id)s and [[held r]]
)
select totals.total, r.id, r.subject_id, r.predicate_key, r.phrase, r.object_id, r.value_norm, r.why, r.recorded_at,
       r.recorded_seq, s.label as subject, o.label as object, t.actor as refused_by, t.via,
       coalesce(term.definition ->> 'label', r.predicate_key, r.phrase) as predicate_label
from (select count(*) as total from refused) totals
left join (select * from refused order by recorded_seq, id limit %(limit)s offset %(offset)s) r on true
left join entities s on s.kb_id = r.kb_id and s.id = r.subject_id
left join entities o on o.kb_id = r.kb_id and o.id = r.object_id
left join ledger_transaction t on t.kb_id = r.kb_id and t.seq = r.recorded_seq
left join ontology_terms term on term.kb_id = r.kb_id and term.key = r.predicate_key and [[held term]]
order by r.recorded_seq, r.id
