-- Documents are rows, never partitions. Versions and chunks carry the record clock, so that a search or a read
-- as of any moment sees what was there then.
set local lock_timeout = '10s';

create table sources (
    kb_id       uuid not null references kb (id),
    id          uuid not null default gen_random_uuid(),
    kind        text not null check (kind in ('push', 'folder', 'memory')),
    name        text not null check (name <> ''),
    config      jsonb not null default '{}',
    created_at  timestamptz not null default clock_timestamp(),
    primary key (kb_id, id),
    unique (kb_id, kind, name)
);

create table blobs (
    kb_id    uuid not null references kb (id),
    sha256   bytea not null check (length(sha256) = 32),
    content  bytea not null,
    primary key (kb_id, sha256)
);

create table documents (
    kb_id        uuid not null,
    id           uuid not null,
    source_id    uuid not null,
    external_id  text not null check (external_id <> ''),
    kind         text not null check (kind in ('file', 'memory')),
    namespace    text not null default '',
    recorded_seq bigint not null,
    recorded_at  timestamptz not null,
    missing_at   timestamptz,                  -- not seen at its source any more; not a deletion
    primary key (kb_id, id),
    unique (kb_id, source_id, external_id),
    foreign key (kb_id, source_id) references sources (kb_id, id)
);

create table document_versions (
    kb_id               uuid not null,
    id                  uuid not null,
    document_id         uuid not null,
    number              integer not null check (number > 0),
    filename            text not null check (filename <> ''),
    media_type          text,
    content_sha256      bytea not null,
    doc_time            timestamptz,           -- what the document says of itself; never when it was uploaded
    doc_time_precision  text check (doc_time_precision in ('year', 'month', 'day', 'hour', 'minute', 'second')),
    author              text not null default '',
    recorded_seq        bigint not null,
    recorded_at         timestamptz not null,
    invalidated_seq     bigint,
    invalidated_at      timestamptz,
    invalidated_kind    text check (invalidated_kind in ('superseded', 'deleted')),
    primary key (kb_id, id),
    unique (kb_id, document_id, number),
    foreign key (kb_id, document_id) references documents (kb_id, id),
    foreign key (kb_id, content_sha256) references blobs (kb_id, sha256),
    check ((doc_time is null) = (doc_time_precision is null)),
    check ((invalidated_seq is null) = (invalidated_at is null) and (invalidated_seq is null) = (invalidated_kind is null)),
    check (invalidated_seq is null or invalidated_seq >= recorded_seq)
);
create index document_versions_held on document_versions (kb_id, document_id) where invalidated_seq is null;

-- What parsing found, once per version and parser version: a title, the date the content states, or why it failed.
create table parse_results (
    kb_id               uuid not null,
    version_id          uuid not null,
    parser              text not null,
    title               text not null default '',
    media_type          text not null default '',
    doc_time            timestamptz,
    doc_time_precision  text check (doc_time_precision in ('year', 'month', 'day', 'hour', 'minute', 'second')),
    doc_time_source     text check (doc_time_source in ('push', 'front_matter', 'content')),
    failure_code        text,
    failure             text,
    finished_at         timestamptz not null default clock_timestamp(),
    primary key (kb_id, version_id, parser),
    foreign key (kb_id, version_id) references document_versions (kb_id, id),
    check ((failure_code is null) = (failure is null)),
    check ((doc_time is null) = (doc_time_precision is null) and (doc_time is null) = (doc_time_source is null))
);

create table chunks (
    kb_id             uuid not null,
    id                uuid not null,
    document_id       uuid not null,
    version_id        uuid not null,
    position          integer not null check (position >= 0),
    text              text not null,
    kind              text not null check (kind in ('text', 'table')),
    heading_path      text[] not null default '{}',
    anchor            jsonb not null default '{}',
    cells             jsonb,                   -- {"header": [...], "rows": [[...]]} of a table chunk
    body_start        integer not null,
    body_end          integer not null,
    namespace         text not null default '',
    parser            text not null,
    recorded_seq      bigint not null,
    recorded_at       timestamptz not null,
    invalidated_seq   bigint,
    invalidated_at    timestamptz,
    invalidated_kind  text check (invalidated_kind in ('superseded', 'deleted')),
    primary key (kb_id, id),
    unique (kb_id, version_id, parser, position),
    foreign key (kb_id, document_id) references documents (kb_id, id),
    foreign key (kb_id, version_id) references document_versions (kb_id, id),
    check (body_end >= body_start),
    check ((invalidated_seq is null) = (invalidated_at is null) and (invalidated_seq is null) = (invalidated_kind is null)),
    check (invalidated_seq is null or invalidated_seq >= recorded_seq)
);
create index chunks_of_version on chunks (kb_id, version_id, position);
create index chunks_by_document on chunks (kb_id, document_id);
create index chunks_since on chunks (kb_id, recorded_seq);
create index chunks_closed_since on chunks (kb_id, invalidated_seq) where invalidated_seq is not null;

-- The column has no fixed dimension: it follows the model. A partial expression index per model is built by a job.
create table embeddings (
    kb_id      uuid not null,
    chunk_id   uuid not null,
    model      text not null,
    embedding  vector not null,
    primary key (kb_id, model, chunk_id),
    foreign key (kb_id, chunk_id) references chunks (kb_id, id)
);

-- What needs work: an item of a stage at one code version. A worker leases rows with SKIP LOCKED and proves by
-- its token, in the transaction of its last write, that it still owns them.
create table work (
    kb_id         uuid not null references kb (id),
    stage         text not null check (stage in ('parse', 'embed', 'claims', 'entities', 'facts')),
    item_id       uuid not null,
    code_version  text not null,
    state         text not null default 'due' check (state in ('due', 'done', 'failed', 'quarantined')),
    lease_token   uuid,
    lease_until   timestamptz,
    started       integer not null default 0,
    finished      integer not null default 0,
    failure_code  text,
    failure       text,
    due_at        timestamptz not null default clock_timestamp(),
    done_at       timestamptz,
    primary key (kb_id, stage, item_id, code_version),
    check ((lease_token is null) = (lease_until is null))
);
create index work_due on work (kb_id, stage, due_at) where state = 'due';
