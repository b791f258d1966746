-- Which relation a phrase of the sources names, in which direction, and what that was decided on. What a declared word
-- names needs no row to be bound; its row says so all the same. A phrase that nothing names waits here as undecided.
--
-- Null has one meaning per column:
--   predicate_key    the phrase names no relation: a person said so, or nothing has decided yet (`method`)
--   supersedes       nothing was decided of the phrase before
set local lock_timeout = '10s';

create table bindings (
    kb_id            uuid not null references kb (id),
    id               uuid not null,
    phrase           text not null check (phrase <> ''),          -- in its plain form
    predicate_key    text check (predicate_key ~ '^[a-z0-9_]{1,40}$'),
    backwards        boolean not null,                            -- subject and object change places
    method           text not null check (method in ('exact', 'concept', 'similarity', 'votes', 'person', 'undecided')),
    basis            jsonb not null,                              -- candidates with scores, votes, models, ontology
    fingerprint      bytea not null check (length(fingerprint) = 32),
    why              text not null default '',
    supersedes       uuid,
    recorded_seq     bigint not null,
    recorded_at      timestamptz not null,
    invalidated_seq  bigint,
    invalidated_at   timestamptz,
    primary key (kb_id, id),
    foreign key (kb_id, supersedes) references bindings (kb_id, id),
    check (method = 'person' or (predicate_key is null) = (method = 'undecided')),
    check (predicate_key is not null or not backwards),
    check ((invalidated_seq is null) = (invalidated_at is null))
);
create unique index bindings_held on bindings (kb_id, phrase) where invalidated_seq is null;
create index bindings_of_phrase on bindings (kb_id, phrase, recorded_seq);
create trigger close_once before update on bindings for each row execute function ledger_close_once();
create trigger no_delete before delete on bindings for each row execute function ledger_refuse();
create trigger no_truncate before truncate on bindings for each statement execute function ledger_refuse();
grant select, insert, update (invalidated_seq, invalidated_at) on bindings to twoclocks_app;
select protect_base_table('public.bindings'::regclass);
