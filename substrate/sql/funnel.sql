-- name: funnel_unmeasured
-- Readings of held passages whose sentences were not counted yet, at most so many, with what they claimed where.
select u.chunk_id, u.extractor, k.text,
       coalesce(array_agg(c.quote_start) filter (where c.id is not null), '{}') as starts,
       coalesce(array_agg(c.quote_end) filter (where c.id is not null), '{}') as ends
from (
    select u.kb_id, u.chunk_id, u.extractor from extraction_usage u
    join chunks k on k.kb_id = u.kb_id and k.id = u.chunk_id
    where u.kb_id = %(kb_id)s and [[held k]]
      and not exists (select from reading_coverage r
                      where r.kb_id = u.kb_id and r.chunk_id = u.chunk_id and r.extractor = u.extractor)
    order by u.chunk_id, u.extractor limit %(most)s) u
join chunks k on k.kb_id = u.kb_id and k.id = u.chunk_id
left join claims c on c.kb_id = u.kb_id and c.chunk_id = u.chunk_id and c.extractor = u.extractor
group by u.chunk_id, u.extractor, k.text

-- name: funnel_keep_coverage
insert into reading_coverage (kb_id, chunk_id, extractor, sentences, covered)
select %(kb_id)s, r.chunk_id, r.extractor, r.sentences, r.covered
from unnest(%(chunk_ids)s::uuid[], %(extractors)s::text[], %(sentences)s::integer[], %(covered)s::integer[])
     as r (chunk_id, extractor, sentences, covered)
on conflict do nothing

-- name: funnel_coverage
-- Over the readings of held passages: how many were counted, and what was found in them.
select count(*) as readings, count(r.chunk_id) as measured, coalesce(sum(r.sentences), 0) as sentences,
       coalesce(sum(r.covered), 0) as covered
from extraction_usage u
join chunks k on k.kb_id = u.kb_id and k.id = u.chunk_id
left join reading_coverage r on r.kb_id = u.kb_id and r.chunk_id = u.chunk_id and r.extractor = u.extractor
where u.kb_id = %(kb_id)s and [[held k]]

-- name: funnel_passages
-- Held passages by what became of them.
with said as (
    select c.chunk_id from claims c where c.kb_id = %(kb_id)s group by c.chunk_id
), dropped as (
    select d.chunk_id from extraction_drops d where d.kb_id = %(kb_id)s group by d.chunk_id
), read as (
    select u.chunk_id from extraction_usage u where u.kb_id = %(kb_id)s group by u.chunk_id
), task as (
    select w.item_id, bool_or(w.state = 'due') as due, bool_or(w.state in ('failed', 'quarantined')) as failed
    from work w where w.kb_id = %(kb_id)s and w.stage = 'claims' group by w.item_id
)
select case when said.chunk_id is not null then 'with_claims'
            when read.chunk_id is not null and dropped.chunk_id is not null then 'dropped_only'
            when read.chunk_id is not null then 'nothing_stated'
            when task.due then 'waiting'
            when task.failed then 'failed'
            else 'unread' end as code,
       count(*) as items
from chunks k
left join said on said.chunk_id = k.id
left join dropped on dropped.chunk_id = k.id
left join read on read.chunk_id = k.id
left join task on task.item_id = k.id
where k.kb_id = %(kb_id)s and [[held k]]
group by 1 order by 1

-- name: funnel_drops
-- What readers of held passages saw and would not claim, and what was wrong with pushed statements, by code.
select d.code, count(*) as items
from extraction_drops d join chunks k on k.kb_id = d.kb_id and k.id = d.chunk_id
where d.kb_id = %(kb_id)s and [[held k]]
group by d.code
union all
select 'push_refused', sum(p.refused)
from statement_pushes p join document_versions v on v.kb_id = p.kb_id and v.id = p.version_id
where p.kb_id = %(kb_id)s and [[held v]] having sum(p.refused) > 0
order by 2 desc, 1

-- name: funnel_claims
-- Claims of held passages by what they look like, whether their names are resolved, and what became of them. A claim
-- that is not asserted has a reason: a person's verdict, a refusal, or a stage that has not come to it.
with told as (
    select a.claim_id, a.id, a.denies, a.invalidated_seq is null as held, a.invalidated_kind as kind,
           row_number() over (partition by a.claim_id order by a.invalidated_seq desc nulls first) as latest
    from assertions a
    where a.kb_id = %(kb_id)s and a.claim_id is not null and a.source_key = 'claim:' || a.claim_id
), stands as (
    select e.assertion_id from evidence e
    join facts f on f.kb_id = e.kb_id and f.lineage_id = e.lineage_id and f.invalidated_seq is null
    where e.kb_id = %(kb_id)s and e.invalidated_seq is null
), kept_out as (
    select w.assertion_id from withheld w where w.kb_id = %(kb_id)s and w.invalidated_seq is null group by w.assertion_id
), silent as (
    select distinct r.source_key from refusal_restatements r where r.kb_id = %(kb_id)s
), named as (
    select distinct m.claim_id from mentions m where m.kb_id = %(kb_id)s
), task as (
    select w.item_id, w.code_version, bool_or(w.state = 'due') as due,
           bool_or(w.state in ('failed', 'quarantined')) as failed
    from work w where w.kb_id = %(kb_id)s and w.stage in ('entities', 'facts') group by w.item_id, w.code_version
), proposal as (
    select p.claim_id, p.verdict,
           row_number() over (partition by p.claim_id order by p.recorded_seq desc, p.id) as latest
    from pending_facts p where p.kb_id = %(kb_id)s
)
select c.phrase, c.wording, c.subject_kind, c.object_kind, c.mood,
       case when c.mood is not null then null
            when told.held or named.claim_id is not null then 'resolved'
            when proposal.claim_id is not null
                then case coalesce(proposal.verdict, 'waits') when 'waits' then 'waits_for_a_person'
                     when 'rejected' then 'rejected' when 'withdrawn' then 'withdrawn' else 'taken_back' end
            when silent.source_key is not null then 'refused'
            when task.due then 'waiting'
            when task.failed then 'failed'
            when task.item_id is null then 'waiting'
            else 'unaccounted' end as entity_code,
       case when c.mood is not null or not (told.held is true or named.claim_id is not null) then null
            when told.held and kept_out.assertion_id is not null then 'refused'
            when told.held and stands.assertion_id is not null then 'fact'
            when told.held and told.denies then 'denies'
            when told.held then 'overruled'
            when told.kind is not null then told.kind
            when task.due then 'waiting'
            when task.failed then 'failed'
            when task.item_id is null then 'waiting'
            else 'unaccounted' end as fact_code,
       count(*) as claims
from claims c
join chunks k on k.kb_id = c.kb_id and k.id = c.chunk_id
left join told on told.claim_id = c.id and told.latest = 1
left join stands on stands.assertion_id = told.id
left join kept_out on kept_out.assertion_id = told.id
left join silent on silent.source_key = 'claim:' || c.id
left join named on named.claim_id = c.id
left join task on task.item_id = c.chunk_id and task.code_version = c.extractor
left join proposal on proposal.claim_id = c.id and proposal.latest = 1
where c.kb_id = %(kb_id)s and [[held k]]
group by 1, 2, 3, 4, 5, 6, 7

-- name: funnel_facts
-- Held facts by what they rest on: statements of passages, names alone, or a person's word alone.
select count(*) as facts, count(*) filter (where s.stated) as stated,
       count(*) filter (where not s.stated and s.named) as names,
       count(*) filter (where not s.stated and not s.named) as other
from facts f
left join lateral (
    select coalesce(bool_or(a.source_key like 'claim:%%'), false) as stated,
           coalesce(bool_or(a.source_key like 'name:%%'), false) as named
    from evidence e join assertions a on a.kb_id = e.kb_id and a.id = e.assertion_id
    where e.kb_id = f.kb_id and e.lineage_id = f.lineage_id and e.invalidated_seq is null) s on true
where f.kb_id = %(kb_id)s and [[held f]]

-- name: mark_of_funnel
select concat_ws('.', (select count(*) from reading_coverage where kb_id = %(kb_id)s),
                 (select seq from kb_head where kb_id = %(kb_id)s)) as mark,
       (select count(*) from reading_coverage where kb_id = %(kb_id)s) as rows

-- name: funnel_totals
-- What the levels are held against, counted another way: by what readings said of themselves when they were kept.
select (select count(*) from chunks k where k.kb_id = %(kb_id)s and [[held k]]) as passages,
       (select coalesce(sum(coalesce(u.claims, (select count(*) from claims c where c.kb_id = u.kb_id
                                                  and c.chunk_id = u.chunk_id and c.extractor = u.extractor))
                            + coalesce(u.drops, (select count(*) from extraction_drops d where d.kb_id = u.kb_id
                                                   and d.chunk_id = u.chunk_id and d.extractor = u.extractor))), 0)
        from extraction_usage u join chunks k on k.kb_id = u.kb_id and k.id = u.chunk_id
        where u.kb_id = %(kb_id)s and [[held k]])
       + (select coalesce(sum(p.refused), 0)
          from statement_pushes p join document_versions v on v.kb_id = p.kb_id and v.id = p.version_id
          where p.kb_id = %(kb_id)s and [[held v]]) as seen,
       (select count(*) from claims c join chunks k on k.kb_id = c.kb_id and k.id = c.chunk_id
        where c.kb_id = %(kb_id)s and [[held k]]) as claims,
       (select count(*) from claims c join chunks k on k.kb_id = c.kb_id and k.id = c.chunk_id
        where c.kb_id = %(kb_id)s and [[held k]] and c.mood is null) as stated
