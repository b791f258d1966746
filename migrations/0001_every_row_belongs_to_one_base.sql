-- A knowledge base is the unit of ordering, of rights and of partitioning: every later key starts with kb_id,
-- so that no reference can cross from one base into another.
set local lock_timeout = '10s';

create extension if not exists vector;
create extension if not exists pg_trgm;

create table kb (
    id          uuid primary key default gen_random_uuid(),
    slug        text not null unique check (slug ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
    name        text not null check (name <> ''),
    created_at  timestamptz not null default clock_timestamp()
);

-- The one row a writer of the base locks. `at` never goes back, whatever the machine's clock does.
create table kb_head (
    kb_id  uuid primary key references kb (id),
    seq    bigint not null default 0 check (seq >= 0),
    at     timestamptz not null default 'epoch',
    hash   bytea not null check (length(hash) = 32)
);

create table people (
    id          uuid primary key default gen_random_uuid(),
    name        text not null check (name <> ''),
    email       text unique,
    created_at  timestamptz not null default clock_timestamp()
);

create table kb_members (
    kb_id      uuid not null references kb (id),
    person_id  uuid not null references people (id),
    role       text not null check (role in ('viewer', 'editor', 'admin', 'owner')),
    primary key (kb_id, person_id)
);

-- Only the hash of a token is kept; `prefix` is what a list shows and a scanner finds.
create table tokens (
    id            uuid primary key default gen_random_uuid(),
    person_id     uuid not null references people (id),
    name          text not null check (name <> ''),
    prefix        text not null,
    hash          bytea not null unique check (length(hash) = 32),
    scope         text not null check (scope in ('read', 'write')),
    kb_ids        uuid[],                       -- null: every base its owner can open
    created_at    timestamptz not null default clock_timestamp(),
    expires_at    timestamptz not null,
    revoked_at    timestamptz,
    last_used_at  timestamptz
);

-- Who was served what. Written outside the head lock: reads need no order among themselves.
create table access_events (
    id         bigint generated always as identity primary key,
    kb_id      uuid not null references kb (id),
    at         timestamptz not null default clock_timestamp(),
    person_id  uuid references people (id),
    token_id   uuid references tokens (id),
    via        text not null,
    action     text not null,
    seq        bigint,
    fact_ids   uuid[] not null default '{}',
    chunk_ids  uuid[] not null default '{}'
);
create index access_events_by_base on access_events (kb_id, at);
