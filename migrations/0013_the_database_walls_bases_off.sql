-- Row-level security beneath the application's own checks, forced. A transaction says which bases it reads and which it
-- writes; a row of any other base is not there for it, and a transaction that says nothing meets no row at all.
set local lock_timeout = '10s';

-- Owns the functions that must look past the walls; nobody logs in as it. It sees the columns it is granted, no more.
do $$
begin
    if not exists (select from pg_roles where rolname = 'twoclocks_lookup') then
        create role twoclocks_lookup nologin;
    end if;
exception
    when duplicate_object or unique_violation then null;   -- roles are the cluster's, and somebody else was quicker
end $$;

do $$
begin
    execute format('grant twoclocks_lookup to %I', current_user);
    grant usage, create on schema public to twoclocks_lookup;
end $$;

-- One expression each, so that the planner puts it in place of the call. A setting that a transaction has left behind
-- is an empty text in the next one.
create function readable_bases() returns uuid[] language sql stable parallel safe
return nullif(current_setting('twoclocks.read_bases', true), '')::uuid[];

create function writable_bases() returns uuid[] language sql stable parallel safe
return nullif(current_setting('twoclocks.write_bases', true), '')::uuid[];

-- Walls off a table: `base` is the column that names a row's base. Every later migration that makes a table with a
-- base calls this. The sub-select is evaluated once for a statement; a bare call would be evaluated for each row. And
-- `is true` keeps the list out of index conditions: every query names its base anyway, and a list beside it would be
-- sorted anew for each look-up of a join, which made reads half as slow again.
-- Writing asks for reading too: a row that is changed or deleted must be one that the transaction reads.
create function protect_base_table(wall regclass, base name default 'kb_id') returns void
language plpgsql set search_path = pg_catalog, public, pg_temp as $$
declare
    readable constant text := format('(%I = any ((select public.readable_bases())::uuid[])) is true', base);
    writable constant text := format('(%I = any ((select public.writable_bases())::uuid[])) is true', base);
begin
    execute format('alter table %s enable row level security, force row level security', wall);
    execute format('create policy base_read on %s for select using (%s)', wall, readable);
    execute format('create policy base_insert on %s for insert with check (%s)', wall, writable);
    execute format('create policy base_update on %s for update using (%s) with check (%s)', wall, writable, writable);
    execute format('create policy base_delete on %s for delete using (%s)', wall, writable);
    execute format('create policy lookup on %s for select to twoclocks_lookup using (true)', wall);
end $$;

-- What looks past the walls. Each has one narrow use, a pinned search path, and no caller but the application's role.
grant select on kb, kb_members to twoclocks_lookup;
grant select (kb_id, seq) on kb_head to twoclocks_lookup;
grant select (kb_id, id, label_norm, recorded_seq) on entities to twoclocks_lookup;
grant select (kb_id, subject_id, predicate_key, value_norm, recorded_seq, invalidated_seq) on facts to twoclocks_lookup;

-- For an operator: the list that reaches every base there is, as a setting.
create function every_base() returns text language sql stable security definer set search_path = pg_catalog, pg_temp
return (select coalesce(array_agg(k.id order by k.id), '{}')::text from public.kb k);

create function base_of_slug(wanted text) returns table (id uuid, slug text, name text, created_at timestamptz)
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
    select k.id, k.slug, k.name, k.created_at from public.kb k where k.slug = wanted;
end;

-- For the gate, which judges a token before anything says which base it reaches.
create function role_in_base(base uuid, person uuid) returns text
language sql stable security definer set search_path = pg_catalog, pg_temp
return (select m.role from public.kb_members m where m.kb_id = base and m.person_id = person);

create function bases_of_person(person uuid)
returns table (id uuid, slug text, name text, created_at timestamptz, role text, seq bigint)
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
    select k.id, k.slug, k.name, k.created_at, m.role, h.seq
    from public.kb_members m join public.kb k on k.id = m.kb_id join public.kb_head h on h.kb_id = k.id
    where m.person_id = person;
end;

-- `like` tells what it sees by raising, so that under the walls no index of trigrams could answer it. Here it can: the
-- names of a base that the transaction reads anyway, with what tells when each was held.
create function names_like(base uuid, patterns text[])
returns table (id uuid, norm text, recorded_seq bigint, invalidated_seq bigint)
language plpgsql stable rows 20 security definer set search_path = pg_catalog, pg_temp
-- Only who knows the patterns can tell that the index of trigrams is worth it; reads ask for generic plans.
set plan_cache_mode = force_custom_plan as $$
#variable_conflict use_column
begin
    if base = any (public.readable_bases()) then
        return query
            select f.subject_id, f.value_norm, f.recorded_seq, f.invalidated_seq from public.facts f
            where f.kb_id = base and f.predicate_key = 'known_as' and f.value_norm like any (patterns)
            union all
            select e.id, e.label_norm, e.recorded_seq, null from public.entities e
            where e.kb_id = base and e.label_norm like any (patterns);
    end if;
end $$;

do $$
declare
    f text;
begin
    foreach f in array array['every_base()', 'base_of_slug(text)', 'role_in_base(uuid, uuid)', 'bases_of_person(uuid)',
                             'names_like(uuid, text[])'] loop
        execute format('alter function %s owner to twoclocks_lookup', f);
        execute format('revoke all on function %s from public', f);
        execute format('grant execute on function %s to twoclocks_app', f);
        execute format('grant execute on function %s to %I', f, current_user);
    end loop;
    revoke all on function protect_base_table(regclass, name) from public;
    revoke create on schema public from twoclocks_lookup;
end $$;

do $$
declare
    wall regclass;
begin
    for wall in
        select c.oid::regclass from pg_class c join pg_attribute a on a.attrelid = c.oid
        where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace and a.attname = 'kb_id' and a.attnum > 0
        order by c.relname
    loop
        perform protect_base_table(wall);
    end loop;
    perform protect_base_table('kb', 'id');
    -- Whoever is a member sees what the role sees. A later migration that touches its functions lets itself in again.
    execute format('revoke twoclocks_lookup from %I', current_user);
end $$;
