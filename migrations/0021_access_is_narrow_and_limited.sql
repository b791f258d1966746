-- Who may read a base without being its member, what a token may be good for, how a person signs in, and the secrets that
-- are kept sealed. Organisations, workspaces, tokens and sign-ins belong to no base: the walls of 0013 stand around
-- bases, and what says who may pass them is asked before anything says which base it reaches.
set local lock_timeout = '10s';

create table organisations (
    id          uuid primary key default gen_random_uuid(),
    name        text not null unique check (name <> ''),
    created_at  timestamptz not null default clock_timestamp()
);

create table workspaces (
    id               uuid primary key default gen_random_uuid(),
    organisation_id  uuid not null references organisations (id),
    slug             text not null unique check (slug ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
    created_at       timestamptz not null default clock_timestamp()
);

create table workspace_members (
    workspace_id  uuid not null references workspaces (id),
    person_id     uuid not null references people (id),
    primary key (workspace_id, person_id)
);
create index workspace_members_by_person on workspace_members (person_id);

-- A base is for its members alone unless it says otherwise; whoever else may see it is a viewer.
alter table kb
    add column workspace_id uuid references workspaces (id),
    add column open_to text not null default 'members' check (open_to in ('members', 'workspace', 'organisation')),
    add column public_read boolean not null default false,             -- by anybody, without a token
    add constraint open_to_somebody check (open_to = 'members' or workspace_id is not null);

-- Whom the record names where nobody said who they are. It is nobody's member and can be given no role.
insert into people (id, name) values ('00000000-0000-4000-8000-000000000001', 'the public');
alter table kb_members add constraint a_role_is_somebodys check (person_id <> '00000000-0000-4000-8000-000000000001');
alter table workspace_members add check (person_id <> '00000000-0000-4000-8000-000000000001');

-- personal   a person's client                     session    a person's browser, only ever shown as a cookie
-- service    a source that pushes and reads nothing
-- agent      handed out to whoever asks, for public bases            anonymous  no token at all, for the record
alter table tokens
    drop constraint tokens_scope_check,
    add constraint tokens_scope_check check (scope in ('read', 'write', 'push')),
    add column kind text not null default 'personal'
        check (kind in ('personal', 'service', 'session', 'agent', 'anonymous')),
    add constraint push_is_for_services check ((scope = 'push') = (kind = 'service')),
    add constraint a_service_names_its_bases check (kind <> 'service' or cardinality(kb_ids) > 0),
    add constraint the_public_reads check (
        (kind in ('agent', 'anonymous')) = (person_id = '00000000-0000-4000-8000-000000000001')
        and (kind not in ('agent', 'anonymous') or scope = 'read'));
create index tokens_by_person on tokens (person_id);

-- Its hash is of random bytes that were kept nowhere, so that nothing that is shown can be this token.
insert into tokens (id, person_id, name, prefix, hash, scope, kind, expires_at)
values ('00000000-0000-4000-8000-000000000002', '00000000-0000-4000-8000-000000000001', 'no token', '',
        sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())), 'read', 'anonymous', '9999-12-31Z');

-- Who an identity provider's subject is to us.
create table identities (
    issuer      text not null check (issuer <> ''),
    subject     text not null check (subject <> ''),
    person_id   uuid not null references people (id),
    created_at  timestamptz not null default clock_timestamp(),
    primary key (issuer, subject)
);

-- A sign-in that has begun. It is taken out when it ends, so that no state is good for a second time.
create table signins (
    state_hash    bytea primary key check (length(state_hash) = 32),
    browser_hash  bytea not null check (length(browser_hash) = 32),    -- of the cookie of the browser that began it
    nonce         text not null,
    verifier      text not null,                                       -- of PKCE
    next          text not null,
    expires_at    timestamptz not null
);

-- AES-256-GCM under a key that the database never sees; base and name are bound into the seal.
create table credentials (
    kb_id    uuid not null references kb (id),
    name     text not null check (name ~ '^[a-z0-9][a-z0-9._-]{0,62}$'),
    key_id   text not null,                                            -- of the key, not the key
    sealed   bytea not null check (length(sealed) > 28),               -- nonce of 12, ciphertext, tag of 16
    set_by   text not null,
    set_at   timestamptz not null default clock_timestamp(),
    primary key (kb_id, name)
);
select protect_base_table('public.credentials'::regclass);

grant select, insert, update on organisations, workspaces to twoclocks_app;
grant select, insert, delete on workspace_members, signins to twoclocks_app;
grant select, insert on identities to twoclocks_app;
grant select, insert, update, delete on credentials to twoclocks_app;
grant select on workspaces, workspace_members to twoclocks_lookup;

do $$
begin
    execute format('grant twoclocks_lookup to %I', current_user);
end $$;

-- One look, whether the base is there or not. Who is a member is what they are there; else an open or public base has
-- them as a viewer.
create or replace function role_in_base(base uuid, person uuid) returns text
language sql stable security definer set search_path = pg_catalog, pg_temp
return coalesce(
    (select m.role from public.kb_members m where m.kb_id = base and m.person_id = person),
    (select 'viewer' from public.kb k
     where k.id = base
       and (k.public_read
            or k.open_to <> 'members' and exists (
                select from public.workspace_members w
                join public.workspaces theirs on theirs.id = w.workspace_id
                join public.workspaces its on its.id = k.workspace_id
                where w.person_id = person
                  and (theirs.id = its.id
                       or k.open_to = 'organisation' and theirs.organisation_id = its.organisation_id)))));

create or replace function bases_of_person(person uuid)
returns table (id uuid, slug text, name text, created_at timestamptz, role text, seq bigint)
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
    select k.id, k.slug, k.name, k.created_at, r.role, h.seq
    from public.kb k join public.kb_head h on h.kb_id = k.id
    cross join lateral (select public.role_in_base(k.id, person) as role) r
    where r.role is not null;
end;

do $$
begin
    execute format('revoke twoclocks_lookup from %I', current_user);
end $$;
