-- Statements that a program pushed: a document of the source `statements`, whose passages are one statement each. Which
-- body made which version, and who sent it, is on record; what it said is in the version, where a purge finds it.
set local lock_timeout = '10s';

create table statement_pushes (
    kb_id         uuid not null references kb (id),
    id            uuid not null,
    document_id   uuid not null,
    version_id    uuid not null,
    body_sha256   bytea not null check (length(body_sha256) = 32),    -- of the body as sent, refused items included
    accepted      integer not null check (accepted > 0),
    refused       integer not null check (refused >= 0),
    pushed_by     text not null check (pushed_by <> ''),
    recorded_seq  bigint not null,
    recorded_at   timestamptz not null,
    primary key (kb_id, id),
    foreign key (kb_id, document_id) references documents (kb_id, id),
    foreign key (kb_id, version_id) references document_versions (kb_id, id)
);
create index statement_pushes_by_seq on statement_pushes (kb_id, recorded_seq);
create trigger no_change before update or delete on statement_pushes for each row execute function ledger_refuse();
create trigger no_truncate before truncate on statement_pushes for each statement execute function ledger_refuse();
grant select, insert on statement_pushes to twoclocks_app;
select protect_base_table('public.statement_pushes'::regclass);

-- How many sentences a passage has, and how many of them one reading made at least one claim of. Numbers alone, made from
-- passages and claims, and made again where they are missing.
create table reading_coverage (
    kb_id      uuid not null references kb (id),
    chunk_id   uuid not null,
    extractor  text not null,
    sentences  integer not null check (sentences >= 0),
    covered    integer not null check (covered >= 0 and covered <= sentences),
    primary key (kb_id, chunk_id, extractor),
    foreign key (kb_id, chunk_id) references chunks (kb_id, id)
);
grant select, insert on reading_coverage to twoclocks_app;
select protect_base_table('public.reading_coverage'::regclass);
