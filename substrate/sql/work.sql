-- name: add_due
-- One row per item; an item that was set aside as outdated becomes due again.
insert into work (kb_id, stage, item_id, code_version)
select %(kb_id)s, %(stage)s, item_id, %(code_version)s
from unnest(%(items)s::uuid[]) as i (item_id) order by item_id
on conflict (kb_id, stage, item_id, code_version) do update
set state = 'due', failure_code = null, failure = null, due_at = clock_timestamp(), done_at = null
where work.state = 'done' and work.failure_code = 'outdated'

-- name: outdate_work
-- What waits for a version of the code that no longer runs is set aside; a worker that still holds it may finish.
update work set state = 'done', failure_code = 'outdated', done_at = clock_timestamp()
where kb_id = %(kb_id)s and stage = %(stage)s and state = 'due' and code_version <> %(code_version)s
  and (lease_until is null or lease_until < statement_timestamp())

-- name: quarantine_work
-- Items whose workers died %(max_started)s times in a row.
update work w set state = 'quarantined', lease_token = null, lease_until = null, failure_code = 'crashed',
       failure = 'its worker died ' || (w.started - w.finished) || ' times', done_at = clock_timestamp()
from (
    select item_id, code_version from work
    where kb_id = %(kb_id)s and stage = %(stage)s and state = 'due' and started - finished >= %(max_started)s
      and (lease_until is null or lease_until < statement_timestamp())
    for update skip locked
) as stuck
where w.kb_id = %(kb_id)s and w.stage = %(stage)s and w.item_id = stuck.item_id
  and w.code_version = stuck.code_version
returning w.item_id, w.failure

-- name: work_documents
-- The document that each item of a stage belongs to.
select i.item_id, d.external_id
from unnest(%(items)s::uuid[]) as i (item_id)
left join chunks c on %(stage)s <> 'parse' and c.kb_id = %(kb_id)s and c.id = i.item_id
left join document_versions v on v.kb_id = %(kb_id)s
     and v.id = case when %(stage)s = 'parse' then i.item_id else c.version_id end
left join documents d on d.kb_id = v.kb_id and d.id = v.document_id

-- name: lease_work
-- Leases up to `most` free items of one code version. Items whose worker died before come last, in batches that
-- shrink to one, so that the item that kills its worker does not take its neighbours into quarantine.
with free as (
    select item_id, code_version, started - finished as deaths, due_at from work
    where kb_id = %(kb_id)s and stage = %(stage)s and state = 'due' and due_at <= statement_timestamp()
      and (lease_until is null or lease_until < statement_timestamp())
      and (%(code_version)s::text is null or code_version = %(code_version)s)
),
first as materialized (
    select code_version, deaths,
           case deaths when 0 then %(most)s when 1 then (%(most)s + 7) / 8 else 1 end as batch
    from free order by deaths, due_at, item_id limit 1
),
chosen as materialized (
    select w.item_id, w.code_version from work w, first f
    where w.kb_id = %(kb_id)s and w.stage = %(stage)s and w.state = 'due' and w.due_at <= statement_timestamp()
      and (w.lease_until is null or w.lease_until < statement_timestamp())
      and w.code_version = f.code_version and w.started - w.finished = f.deaths
    order by w.due_at, w.item_id
    limit (select batch from first)
    for update of w skip locked
)
update work w set lease_token = %(token)s, started = started + 1,
       lease_until = clock_timestamp() + make_interval(secs => %(seconds)s)
from chosen c
where w.kb_id = %(kb_id)s and w.stage = %(stage)s and w.item_id = c.item_id and w.code_version = c.code_version
returning w.item_id, w.code_version, w.due_at

-- name: finish_done
update work set state = 'done', lease_token = null, lease_until = null, finished = finished + 1,
       failure_code = null, failure = null, done_at = clock_timestamp()
where kb_id = %(kb_id)s and stage = %(stage)s and code_version = %(code_version)s and lease_token = %(token)s
  and item_id = any(%(items)s)

-- name: finish_failed
-- A failure worth retrying waits 30 s, doubled each time, at most an hour.
update work w set state = case when f.retry then 'due' else 'failed' end, lease_token = null, lease_until = null,
       finished = finished + 1, failure_code = f.code, failure = f.message,
       due_at = case when f.retry
                then clock_timestamp() + make_interval(secs => least(3600, 30 * 2 ^ least(w.finished, 7)))
                else w.due_at end,
       done_at = case when f.retry then null else clock_timestamp() end
from unnest(%(items)s::uuid[], %(codes)s::text[], %(messages)s::text[], %(retries)s::boolean[])
     as f (item_id, code, message, retry)
where w.kb_id = %(kb_id)s and w.stage = %(stage)s and w.code_version = %(code_version)s
  and w.lease_token = %(token)s and w.item_id = f.item_id

-- name: release_work
update work set lease_token = null, lease_until = null, started = started - 1
where kb_id = %(kb_id)s and stage = %(stage)s and lease_token = %(token)s and state = 'due'

-- name: due_counts
-- Per stage, items that a worker could lease now.
select stage, count(*) as items from work
where kb_id = %(kb_id)s and state = 'due' and due_at <= statement_timestamp()
  and (lease_until is null or lease_until < statement_timestamp())
group by stage order by stage

-- name: work_remaining
-- Items of a stage that are not finished: free, leased by somebody, or waiting for a retry.
select count(*) as items from work where kb_id = %(kb_id)s and stage = %(stage)s and state = 'due'

-- name: bases_with_due_work
-- Bases where something can be leased now, with what tells one backlog from the next.
select k.id, k.slug, count(*) as items, max(w.due_at) as latest
from work w join kb k on k.id = w.kb_id
where w.state = 'due' and w.due_at <= statement_timestamp()
  and (w.lease_until is null or w.lease_until < statement_timestamp())
group by k.id, k.slug order by k.slug

-- name: work_failures
-- What did not get through, newest first, each with the document it belongs to.
select w.stage, w.state, w.item_id, w.failure_code, w.failure, w.done_at, w.due_at,
       d.id as document_id, d.external_id, v.id as version_id, v.filename, v.number
from work w
left join chunks c on w.stage <> 'parse' and c.kb_id = w.kb_id and c.id = w.item_id
left join document_versions v on v.kb_id = w.kb_id
     and v.id = case when w.stage = 'parse' then w.item_id else c.version_id end
left join documents d on d.kb_id = w.kb_id and d.id = v.document_id
where w.kb_id = %(kb_id)s and (w.state in ('failed', 'quarantined') or w.state = 'due' and w.failure is not null)
order by coalesce(w.done_at, w.due_at) desc, w.item_id limit %(most)s

-- name: head_seq
select seq from kb_head where kb_id = %(kb_id)s

-- name: abandon_work
-- Free at once, and counted as a start that did not finish.
update work set lease_until = statement_timestamp() - interval '1 second'
where kb_id = %(kb_id)s and stage = %(stage)s and lease_token = %(token)s and state = 'due'

-- name: postpone_work
update work set due_at = clock_timestamp() + make_interval(secs => %(seconds)s)
where kb_id = %(kb_id)s and stage = %(stage)s and state = 'due'
  and (lease_until is null or lease_until < statement_timestamp())

-- name: add_due_unmet_chunks
-- Chunks that the stage has never met at any version of the code: all of them, or those held now. No extractor reads
-- what was pushed as a statement.
insert into work (kb_id, stage, item_id, code_version)
select c.kb_id, %(stage)s, c.id, %(code_version)s from chunks c
where c.kb_id = %(kb_id)s and (c.invalidated_seq is null or not %(held_only)s)
  and (%(stage)s <> 'claims' or c.parser not like 'statements@%%')
  and not exists (select from work w where w.kb_id = c.kb_id and w.stage = %(stage)s and w.item_id = c.id)
order by c.id on conflict do nothing

-- name: add_due_chunks
-- Chunks that the stage has never met at this version of the code: all of them, or those held now. No extractor reads
-- what was pushed as a statement.
insert into work (kb_id, stage, item_id, code_version)
select c.kb_id, %(stage)s, c.id, %(code_version)s from chunks c
where c.kb_id = %(kb_id)s and (c.invalidated_seq is null or not %(held_only)s)
  and (%(stage)s <> 'claims' or c.parser not like 'statements@%%')
  and not exists (select from work w where w.kb_id = c.kb_id and w.stage = %(stage)s and w.item_id = c.id
                    and w.code_version = %(code_version)s
                    and (w.state <> 'done' or w.failure_code is distinct from 'outdated'))
order by c.id
on conflict (kb_id, stage, item_id, code_version) do update
set state = 'due', failure_code = null, failure = null, due_at = clock_timestamp(), done_at = null
where work.state = 'done' and work.failure_code = 'outdated'
