-- A deletion is an event with its list; it can be undone, or followed by a purge that leaves a tombstone.
set local lock_timeout = '10s';

-- What one deletion took, exactly: the rows it closed. A fact is in `fact_ids` where its every evidence went (the row
-- that was held until then), and in `weakened_ids` where it lost some and stays (the row that is held from then on).
create table document_deletions (
    kb_id          uuid not null,
    id             uuid not null,
    document_id    uuid not null,
    why            text not null default '',
    version_ids    uuid[] not null,
    chunk_ids      uuid[] not null,
    assertion_ids  uuid[] not null,
    proposal_ids   uuid[] not null,
    fact_ids       uuid[] not null,
    weakened_ids   uuid[] not null,
    recorded_seq   bigint not null,
    recorded_at    timestamptz not null,
    primary key (kb_id, id),
    foreign key (kb_id, document_id) references documents (kb_id, id)
);
create index document_deletions_of on document_deletions (kb_id, document_id, recorded_seq);

-- What a restoration wrote: closed rows are never reopened, so each row that came back is a new one, and `items` says
-- which it stands for: {"versions": [[old, new], …], "chunks": …, "assertions": …, "proposals": …, "facts": …}.
create table document_restorations (
    kb_id         uuid not null,
    id            uuid not null,
    deletion_id   uuid not null,
    document_id   uuid not null,
    why           text not null default '',
    items         jsonb not null,
    recorded_seq  bigint not null,
    recorded_at   timestamptz not null,
    primary key (kb_id, id),
    unique (kb_id, deletion_id),
    foreign key (kb_id, deletion_id) references document_deletions (kb_id, id),
    foreign key (kb_id, document_id) references documents (kb_id, id)
);
create index document_restorations_of on document_restorations (kb_id, document_id);

do $$
declare
    t text;
begin
    foreach t in array array['document_deletions', 'document_restorations'] loop
        execute format('create trigger no_change before update or delete on %I for each row execute function ledger_refuse()', t);
        execute format('create trigger no_truncate before truncate on %I for each statement execute function ledger_refuse()', t);
        execute format('grant select, insert on %I to twoclocks_app', t);
    end loop;
end $$;
