-- name: access_token_by_hash
-- The token of a hash with its owner and, where a base is named, the owner's role there; whether the token still counts
-- is judged by the database's own clock.
select t.id, t.name, t.scope, t.kind, t.kb_ids, t.person_id, p.name as person_name,
       t.revoked_at is not null as revoked, t.expires_at <= clock_timestamp() as expired,
       (t.last_used_at is null or t.last_used_at < clock_timestamp() - interval '1 minute') as stale,
       role_in_base(%(kb_id)s, t.person_id) as role
from tokens t join people p on p.id = t.person_id
where t.hash = %(hash)s

-- name: access_touch_token
-- At most one write a minute, however often the token is used.
update tokens set last_used_at = clock_timestamp()
where id = %(id)s and (last_used_at is null or last_used_at < clock_timestamp() - interval '1 minute')

-- name: access_insert_token
insert into tokens (person_id, name, prefix, hash, scope, kb_ids, kind, expires_at)
values (%(person_id)s, %(name)s, %(prefix)s, %(hash)s, %(scope)s, %(kb_ids)s, %(kind)s,
        clock_timestamp() + make_interval(days => %(days)s))
returning id, created_at, expires_at

-- name: access_tokens
-- Tokens of one person (null: of everybody), newest first, without anything that could be presented.
select t.id, t.person_id, p.name as person_name, t.name, t.prefix, t.scope, t.kind, t.kb_ids, t.created_at, t.expires_at,
       t.revoked_at, t.last_used_at, t.expires_at <= clock_timestamp() as expired
from tokens t join people p on p.id = t.person_id
where (%(person_id)s::uuid is null or t.person_id = %(person_id)s) and t.kind <> 'anonymous'
order by t.created_at desc, t.id

-- name: access_revoke_token
update tokens set revoked_at = clock_timestamp()
where id = %(id)s and revoked_at is null and kind <> 'anonymous'
  and (%(person_id)s::uuid is null or person_id = %(person_id)s)
returning id

-- name: access_token_exists
select true as found from tokens
where id = %(id)s and kind <> 'anonymous' and (%(person_id)s::uuid is null or person_id = %(person_id)s)

-- name: access_service_tokens
select t.id, t.person_id, p.name as person_name, t.name, t.prefix, t.scope, t.kind, array[%(kb_id)s::uuid] as kb_ids,
       t.created_at, t.expires_at, t.revoked_at, t.last_used_at, t.expires_at <= clock_timestamp() as expired
from tokens t join people p on p.id = t.person_id
where t.kind = 'service' and %(kb_id)s = any (t.kb_ids)
order by t.created_at desc, t.id

-- name: access_revoke_service_token
-- Of this base alone: what pushes to others too is its maker's to revoke.
update tokens set revoked_at = coalesce(revoked_at, clock_timestamp())
where id = %(id)s and kind = 'service' and kb_ids = array[%(kb_id)s::uuid]
returning id

-- name: access_role
-- What a person is in a base; null where it does not exist for them.
select role_in_base(%(kb_id)s, %(person_id)s) as role

-- name: access_visible_bases
-- Bases a person belongs to, narrowed to a token's list when it has one.
select b.id, b.slug, b.name, b.created_at, b.role, b.seq from bases_of_person(%(person_id)s) b
where %(kb_ids)s::uuid[] is null or b.id = any(%(kb_ids)s)
order by b.slug

-- name: access_insert_person
insert into people (name, email) values (%(name)s, %(email)s) on conflict (email) do nothing returning id

-- name: access_person_by_name
select id, name, email from people where name = %(name)s order by created_at, id limit 2

-- name: access_set_member
insert into kb_members (kb_id, person_id, role) values (%(kb_id)s, %(person_id)s, %(role)s)
on conflict (kb_id, person_id) do update set role = excluded.role

-- name: access_lock_owners
-- Two owners who leave at once wait for one another here.
select person_id from kb_members where kb_id = %(kb_id)s and role = 'owner' order by person_id for update

-- name: access_member_role
select role from kb_members where kb_id = %(kb_id)s and person_id = %(person_id)s

-- name: access_member
select role from kb_members where kb_id = %(kb_id)s and person_id = %(person_id)s for update

-- name: access_person_by_email
select id, name, email from people where lower(email) = lower(%(email)s) order by created_at, id limit 2

-- name: access_person
select id, name, email from people where id = %(id)s

-- name: access_openness
select k.open_to, k.public_read, w.slug as workspace
from kb k left join workspaces w on w.id = k.workspace_id where k.id = %(kb_id)s

-- name: access_set_openness
update kb set open_to = %(open_to)s, public_read = %(public_read)s,
              workspace_id = (select id from workspaces where slug = %(workspace)s)
where id = %(kb_id)s

-- name: access_workspace
select id, organisation_id from workspaces where slug = %(slug)s

-- name: access_make_organisation
insert into organisations (name) values (%(name)s) on conflict (name) do update set name = excluded.name returning id

-- name: access_make_workspace
insert into workspaces (organisation_id, slug) values (%(organisation_id)s, %(slug)s) on conflict (slug) do nothing
returning id

-- name: access_workspaces
select w.slug, o.name as organisation, count(m.person_id) as people
from workspaces w join organisations o on o.id = w.organisation_id
left join workspace_members m on m.workspace_id = w.id
group by w.slug, o.name order by o.name, w.slug

-- name: access_join_workspace
insert into workspace_members (workspace_id, person_id) values (%(workspace_id)s, %(person_id)s) on conflict do nothing

-- name: access_leave_workspace
delete from workspace_members where workspace_id = %(workspace_id)s and person_id = %(person_id)s returning person_id

-- name: access_is_in_workspace
select true as found from workspace_members where workspace_id = %(workspace_id)s and person_id = %(person_id)s

-- name: access_remove_member
delete from kb_members where kb_id = %(kb_id)s and person_id = %(person_id)s returning role

-- name: access_members
select m.person_id, p.name, p.email, m.role
from kb_members m join people p on p.id = m.person_id
where m.kb_id = %(kb_id)s order by p.name, m.person_id

-- name: access_record_event
-- When it was served, by the database's clock: it may have waited for the database.
insert into access_events (kb_id, at, person_id, token_id, via, action, seq, fact_ids, chunk_ids)
values (%(kb_id)s, clock_timestamp() - make_interval(secs => %(age_s)s), %(person_id)s, %(token_id)s, %(via)s,
        %(action)s, %(seq)s, %(fact_ids)s, %(chunk_ids)s)

-- name: reach_further
-- A base that is made here, for the rest of the transaction.
select set_config('twoclocks.read_bases', (readable_bases() || %(kb_id)s::uuid)::text, true),
       set_config('twoclocks.write_bases', (writable_bases() || %(kb_id)s::uuid)::text, true)

-- name: reach_only
-- One of the bases that the transaction reaches, for the rest of it.
select set_config('twoclocks.read_bases', array[%(kb_id)s::uuid]::text, true),
       set_config('twoclocks.write_bases', array[%(kb_id)s::uuid]::text, true)

-- name: reach_for_long
-- For a connection outside the pool that is closed after its one task: an owner who is no superuser meets the walls too.
select set_config('twoclocks.read_bases', array[%(kb_id)s::uuid]::text, false)

-- name: access_adopt_bases
-- A base that nobody belongs to gets this person as its owner.
insert into kb_members (kb_id, person_id, role)
select k.id, %(person_id)s, 'owner' from kb k
where not exists (select from kb_members m where m.kb_id = k.id)

-- name: access_recorders_of_proposals
-- Who recorded the sentences behind proposals, named by id, by the batch that decided them or by the refusal that came of
-- them: as they came in, and as they were cut into the passages that are quoted.
select distinct t.actor
from pending_facts p
join chunks c on c.kb_id = p.kb_id and c.id = p.chunk_id
join document_versions v on v.kb_id = c.kb_id and v.id = c.version_id
join ledger_transaction t on t.kb_id = p.kb_id and t.seq in (c.recorded_seq, v.recorded_seq)
where p.kb_id = %(kb_id)s
  and (p.id = any(%(pending_ids)s)
       or p.id in (select d.pending_id from verdicts d
                   where d.kb_id = %(kb_id)s and (d.batch_id = %(batch_id)s or d.refusal_id = %(refusal_id)s)))
