-- What each document tells of each name it uses, from which it follows who is who; what two people said of two
-- entities; and the pairs that nothing decides. Names themselves are facts, dated and with evidence like any other.
--
-- Null has one meaning per column:
--   identity_profiles.kind       no sentence tells what sort of thing the name is
--   identity_profiles.entity_id  not placed yet
set local lock_timeout = '10s';

-- Computed from the claims of one document and rebuilt whenever they are read again; no part of the ledger.
create table identity_profiles (
    kb_id        uuid not null,
    document_id  uuid not null,
    norm         text not null,
    surface      text not null check (surface <> ''),
    kind         text,
    signature    text not null,
    features     text[] not null,
    entity_id    uuid,
    held         boolean not null default true,   -- its document is
    unsettled    boolean not null default false,
    primary key (kb_id, document_id, norm),
    foreign key (kb_id, document_id) references documents (kb_id, id),
    foreign key (kb_id, entity_id) references entities (kb_id, id)
);
create index identity_profiles_of_name on identity_profiles (kb_id, norm);
create index identity_profiles_of_entity on identity_profiles (kb_id, entity_id);
create index identity_profiles_unsettled on identity_profiles (kb_id, norm) where unsettled;

-- Two names are compared if they share a key, and not otherwise.
create table identity_keys (
    kb_id  uuid not null,
    key    text not null,
    norm   text not null,
    primary key (kb_id, key, norm)
);
create index identity_keys_of_name on identity_keys (kb_id, norm);

-- A mention that turned out to mean another entity. The last row of a mention counts.
create table mention_moves (
    kb_id         uuid not null,
    id            uuid not null,
    claim_id      uuid not null,
    role          text not null check (role in ('subject', 'object')),
    entity_id     uuid not null,
    recorded_seq  bigint not null,
    recorded_at   timestamptz not null,
    primary key (kb_id, id),
    unique (kb_id, claim_id, role, recorded_seq),
    foreign key (kb_id, claim_id, role) references mentions (kb_id, claim_id, role),
    foreign key (kb_id, entity_id) references entities (kb_id, id)
);

-- Two entities that a person said are not the same. Never overridden; closed when the person takes it back.
create table distinctions (
    kb_id            uuid not null,
    id               uuid not null,
    one_id           uuid not null,
    other_id         uuid not null,
    why              text not null default '',
    recorded_seq     bigint not null,
    recorded_at      timestamptz not null,
    invalidated_seq  bigint,
    invalidated_at   timestamptz,
    primary key (kb_id, id),
    foreign key (kb_id, one_id) references entities (kb_id, id),
    foreign key (kb_id, other_id) references entities (kb_id, id),
    check (one_id < other_id),
    check ((invalidated_seq is null) = (invalidated_at is null))
);
create unique index distinctions_held on distinctions (kb_id, one_id, other_id) where invalidated_seq is null;
create index distinctions_of_other on distinctions (kb_id, other_id) where invalidated_seq is null;

-- A pair that looks alike and that nothing decides. Closed when a person decided it or it is in doubt no more.
create table doubts (
    kb_id            uuid not null,
    id               uuid not null,
    one_id           uuid not null,
    other_id         uuid not null,
    score            real not null check (score >= 0 and score <= 1),
    reasons          jsonb not null,
    recorded_seq     bigint not null,
    recorded_at      timestamptz not null,
    invalidated_seq  bigint,
    invalidated_at   timestamptz,
    primary key (kb_id, id),
    foreign key (kb_id, one_id) references entities (kb_id, id),
    foreign key (kb_id, other_id) references entities (kb_id, id),
    check (one_id < other_id),
    check ((invalidated_seq is null) = (invalidated_at is null))
);
create unique index doubts_held on doubts (kb_id, one_id, other_id) where invalidated_seq is null;
create index doubts_of_other on doubts (kb_id, other_id) where invalidated_seq is null;

-- What a model said of a pair in doubt, by a digest of all it was shown: no word of a document, and nothing asked twice.
create table identity_votes (
    kb_id     uuid not null,
    question  text not null,
    votes     jsonb not null,
    asked_at  timestamptz not null default now(),
    primary key (kb_id, question),
    foreign key (kb_id) references kb (id)
);

do $$
declare
    t text;
begin
    -- closed once
    foreach t in array array['distinctions', 'doubts'] loop
        execute format('create trigger close_once before update on %I for each row execute function ledger_close_once()', t);
        execute format('create trigger no_delete before delete on %I for each row execute function ledger_refuse()', t);
        execute format('create trigger no_truncate before truncate on %I for each statement execute function ledger_refuse()', t);
        execute format('grant select, insert, update (invalidated_seq, invalidated_at) on %I to twoclocks_app', t);
    end loop;
    -- never touched again
    execute 'create trigger no_change before update or delete on mention_moves for each row execute function ledger_refuse()';
    execute 'create trigger no_truncate before truncate on mention_moves for each statement execute function ledger_refuse()';
    grant select, insert on mention_moves to twoclocks_app;
    -- ordinary tables
    grant select, insert, update, delete on identity_profiles, identity_keys to twoclocks_app;
    grant select, insert on identity_votes to twoclocks_app;
    foreach t in array array['identity_profiles', 'identity_keys', 'identity_votes', 'mention_moves', 'distinctions', 'doubts'] loop
        perform protect_base_table(format('public.%I', t)::regclass);
    end loop;
end $$;
