-- Facts, what they rest on, and what is not a fact: each epistemic position is a table of its own, so that a
-- forgotten UNION hides and never leaks.
--
-- Null has one meaning per column:
--   valid_from           no start is stated
--   valid_to             with precision null: still open; with precision 'unknown': ended, nobody said when
--   holds_from/holds_to  unbounded on that side
--   invalidated_seq      held now
--   predicate_key        the source's phrase is bound to no relation
set local lock_timeout = '10s';

create table ontology_terms (
    kb_id            uuid not null references kb (id),
    id               uuid not null,
    kind             text not null check (kind in ('class', 'relation', 'attribute')),
    key              text not null check (key ~ '^[a-z0-9_]{1,40}$'),
    definition       jsonb not null,
    recorded_seq     bigint not null,
    recorded_at      timestamptz not null,
    invalidated_seq  bigint,
    invalidated_at   timestamptz,
    primary key (kb_id, id),
    check ((invalidated_seq is null) = (invalidated_at is null))
);
create unique index ontology_terms_held on ontology_terms (kb_id, key) where invalidated_seq is null;

-- `label` is the name the entity was first met under and never changes; names as facts are `known_as`.
create table entities (
    kb_id         uuid not null references kb (id),
    id            uuid not null,
    label         text not null check (label <> ''),
    label_norm    text not null check (label_norm <> ''),
    recorded_seq  bigint not null,
    recorded_at   timestamptz not null,
    primary key (kb_id, id)
);
create index entities_by_name on entities (kb_id, label_norm);
create index entities_by_trigram on entities using gin (label_norm gin_trgm_ops);

create table entity_types (
    kb_id            uuid not null,
    entity_id        uuid not null,
    type_key         text not null,
    source           text not null check (source in ('human', 'inferred', 'extracted')),
    recorded_seq     bigint not null,
    recorded_at      timestamptz not null,
    invalidated_seq  bigint,
    invalidated_at   timestamptz,
    primary key (kb_id, entity_id, recorded_seq),
    foreign key (kb_id, entity_id) references entities (kb_id, id),
    check ((invalidated_seq is null) = (invalidated_at is null))
);
create unique index entity_types_held on entity_types (kb_id, entity_id) where invalidated_seq is null;

-- entity -> canonical entity, on the record clock; an entity without a row is its own canonical. Facts keep the
-- ids they were written with, so that a read as of before a merge shows two.
create table merges (
    kb_id         uuid not null,
    id            uuid not null,
    kept_id       uuid not null,
    absorbed_id   uuid not null,
    why           text not null default '',
    recorded_seq  bigint not null,
    recorded_at   timestamptz not null,
    primary key (kb_id, id),
    foreign key (kb_id, kept_id) references entities (kb_id, id),
    foreign key (kb_id, absorbed_id) references entities (kb_id, id),
    check (kept_id <> absorbed_id)
);
create table entity_canonical (
    kb_id            uuid not null,
    entity_id        uuid not null,
    canonical_id     uuid not null,
    merge_id         uuid not null,
    recorded_seq     bigint not null,
    recorded_at      timestamptz not null,
    invalidated_seq  bigint,
    invalidated_at   timestamptz,
    primary key (kb_id, entity_id, recorded_seq),
    foreign key (kb_id, entity_id) references entities (kb_id, id),
    foreign key (kb_id, canonical_id) references entities (kb_id, id),
    foreign key (kb_id, merge_id) references merges (kb_id, id),
    check (entity_id <> canonical_id),
    check ((invalidated_seq is null) = (invalidated_at is null))
);
create unique index entity_canonical_held on entity_canonical (kb_id, entity_id) where invalidated_seq is null;
create index entity_canonical_members on entity_canonical (kb_id, canonical_id);

create table mentions (
    kb_id         uuid not null,
    claim_id      uuid not null,
    role          text not null check (role in ('subject', 'object')),
    entity_id     uuid not null,
    surface       text not null,
    recorded_seq  bigint not null,
    primary key (kb_id, claim_id, role),
    foreign key (kb_id, claim_id) references claims (kb_id, id),
    foreign key (kb_id, entity_id) references entities (kb_id, id)
);
create index mentions_by_entity on mentions (kb_id, entity_id);

-- What the ledger took in: a claim, or a person's word, with entities resolved, phrase bound and time as stated.
-- Facts are computed from the live assertions of a timeline, never patched.
create table assertions (
    kb_id                 uuid not null,
    id                    uuid not null,
    source_key            text not null,       -- claim:<id>, name:<chunk>:<entity>:<name>, pending:<id>, person:<uuid>
    subject_id            uuid not null,
    predicate_key         text,
    phrase                text not null check (phrase <> ''),
    object_id             uuid,
    value_raw             text,
    value_norm            text,
    value_number          numeric,
    value_unit            text,
    value_type            text check (value_type in ('text', 'number', 'money', 'date', 'bool')),
    qualifiers            jsonb not null default '[]',
    stated_from           timestamptz,
    stated_from_precision text check (stated_from_precision in ('year', 'month', 'day', 'hour', 'minute', 'second')),
    stated_to             timestamptz,
    stated_to_precision   text check (stated_to_precision in ('year', 'month', 'day', 'hour', 'minute', 'second', 'unknown')),
    at_event              boolean not null default false,
    grade                 text not null check (grade in ('A', 'B', 'C')),
    attested_at           timestamptz,
    denies                boolean not null default false,
    corrects              boolean not null default false,
    replaces              text,                -- "B, not A": A's object as the ledger compares it
    origin                text not null check (origin in ('document', 'memory', 'person', 'import')),
    confidence            real not null check (confidence >= 0 and confidence <= 1),
    claim_id              uuid,
    chunk_id              uuid,
    document_id           uuid,
    version_id            uuid,
    quote                 text not null default '',
    quote_start           integer,
    quote_end             integer,
    wording               text not null default '',
    recorded_seq          bigint not null,
    recorded_at           timestamptz not null,
    invalidated_seq       bigint,
    invalidated_at        timestamptz,
    invalidated_kind      text check (invalidated_kind in ('deleted', 'superseded', 'rejected', 'rebound')),
    primary key (kb_id, id),
    foreign key (kb_id, subject_id) references entities (kb_id, id),
    foreign key (kb_id, object_id) references entities (kb_id, id),
    foreign key (kb_id, claim_id) references claims (kb_id, id),
    foreign key (kb_id, chunk_id) references chunks (kb_id, id),
    foreign key (kb_id, document_id) references documents (kb_id, id),
    check (num_nonnulls(object_id, value_norm) = 1),
    check ((value_norm is null) = (value_raw is null) and (value_norm is null) = (value_type is null)),
    check ((stated_from is null) = (stated_from_precision is null)),
    check ((stated_to is null) = (stated_to_precision is null or stated_to_precision = 'unknown')),
    check (stated_from is null or stated_to is null or stated_from < stated_to),
    check ((invalidated_seq is null) = (invalidated_at is null) and (invalidated_seq is null) = (invalidated_kind is null))
);
create unique index assertions_once_per_source on assertions (kb_id, source_key) where invalidated_seq is null;
create index assertions_of_subject on assertions (kb_id, subject_id, predicate_key) where invalidated_seq is null;
create index assertions_of_object on assertions (kb_id, object_id, predicate_key) where invalidated_seq is null and object_id is not null;
create index assertions_of_version on assertions (kb_id, version_id) where invalidated_seq is null;
create index assertions_of_document on assertions (kb_id, document_id) where invalidated_seq is null;

create table facts (
    kb_id                 uuid not null,
    id                    uuid not null,
    lineage_id            uuid not null,       -- kept across supersession; refusals and reviews refer to it
    subject_id            uuid not null,
    predicate_key         text,
    phrase                text not null check (phrase <> ''),
    object_id             uuid,
    value_raw             text,
    value_norm            text,
    value_number          numeric,
    value_unit            text,
    value_type            text check (value_type in ('text', 'number', 'money', 'date', 'bool')),
    qualifiers            jsonb not null default '[]',
    temporal              text not null check (temporal in ('state', 'event', 'eternal')),
    valid_from            timestamptz,
    valid_from_precision  text check (valid_from_precision in ('year', 'month', 'day', 'hour', 'minute', 'second')),
    valid_to              timestamptz,
    valid_to_precision    text check (valid_to_precision in ('year', 'month', 'day', 'hour', 'minute', 'second', 'unknown')),
    valid_to_origin       text check (valid_to_origin in ('stated', 'engine')),
    attested_from         timestamptz,
    attested_to           timestamptz,
    holds_from            timestamptz,         -- the interval a reader filters by, from the columns above
    holds_to              timestamptz,
    undated               boolean not null,
    grade                 text not null check (grade in ('A', 'B', 'C')),
    confidence            real not null check (confidence >= 0 and confidence <= 1),
    recorded_seq          bigint not null,
    recorded_at           timestamptz not null,
    invalidated_seq       bigint,
    invalidated_at        timestamptz,
    invalidated_kind      text check (invalidated_kind in ('corrected', 'retracted', 'rejected', 'merged')),
    supersedes            uuid,
    primary key (kb_id, id),
    foreign key (kb_id, subject_id) references entities (kb_id, id),
    foreign key (kb_id, object_id) references entities (kb_id, id),
    foreign key (kb_id, supersedes) references facts (kb_id, id),
    check (num_nonnulls(object_id, value_norm) = 1),
    check ((value_norm is null) = (value_raw is null) and (value_norm is null) = (value_type is null)),
    check ((valid_from is null) = (valid_from_precision is null)),
    check ((valid_to is null) = (valid_to_precision is null or valid_to_precision = 'unknown')),
    check ((valid_to_precision is null) = (valid_to_origin is null)),
    check (valid_from is null or valid_to is null or valid_from < valid_to),
    check (undated = (valid_from is null and valid_to_precision is null and attested_from is null)),
    check ((invalidated_seq is null) = (invalidated_at is null) and (invalidated_seq is null) = (invalidated_kind is null)),
    check (invalidated_seq is null or invalidated_seq >= recorded_seq)
);
create index facts_held_by_subject on facts (kb_id, subject_id) where invalidated_seq is null;
create index facts_held_by_object on facts (kb_id, object_id) where invalidated_seq is null and object_id is not null;
create index facts_by_subject on facts (kb_id, subject_id, recorded_seq);
create index facts_by_object on facts (kb_id, object_id, recorded_seq) where object_id is not null;
create index facts_names_of_subject on facts (kb_id, subject_id) where predicate_key = 'known_as';
create index facts_superseding on facts (kb_id, supersedes) where supersedes is not null;
create index facts_recorded on facts (kb_id, recorded_seq);
create index facts_invalidated on facts (kb_id, invalidated_seq) where invalidated_seq is not null;
create index facts_names on facts (kb_id, value_norm) where predicate_key = 'known_as';
create index facts_names_by_trigram on facts using gin (value_norm gin_trgm_ops) where predicate_key = 'known_as';
create unique index facts_one_held_row_per_lineage on facts (kb_id, lineage_id) where invalidated_seq is null;

-- Which assertions a fact rests on, on the record clock.
create table evidence (
    kb_id            uuid not null,
    lineage_id       uuid not null,
    assertion_id     uuid not null,
    recorded_seq     bigint not null,
    recorded_at      timestamptz not null,
    invalidated_seq  bigint,
    invalidated_at   timestamptz,
    primary key (kb_id, lineage_id, assertion_id, recorded_seq),
    foreign key (kb_id, assertion_id) references assertions (kb_id, id),
    check ((invalidated_seq is null) = (invalidated_at is null))
);
create unique index evidence_held on evidence (kb_id, assertion_id) where invalidated_seq is null;

-- A proposal waits here and is nowhere else until a person nods.
create table pending_facts (
    kb_id            uuid not null,
    id               uuid not null,
    claim_id         uuid not null,
    chunk_id         uuid not null,
    document_id      uuid not null,
    namespace        text not null default '',
    predicate_key    text,
    proposed_by      text not null,
    recorded_seq     bigint not null,
    recorded_at      timestamptz not null,
    invalidated_seq  bigint,
    invalidated_at   timestamptz,
    verdict          text check (verdict in ('confirmed', 'rejected', 'withdrawn')),
    decided_by       text,
    why              text,
    primary key (kb_id, id),
    unique (kb_id, claim_id),
    foreign key (kb_id, claim_id) references claims (kb_id, id),
    foreign key (kb_id, chunk_id) references chunks (kb_id, id),
    foreign key (kb_id, document_id) references documents (kb_id, id),
    check ((invalidated_seq is null) = (verdict is null) and (invalidated_seq is null) = (decided_by is null)
           and (invalidated_seq is null) = (invalidated_at is null))
);
create index pending_facts_waiting on pending_facts (kb_id, recorded_seq) where invalidated_seq is null;

-- A refused triple. Judged on canonical ids at each write, so that it follows merges.
create table refusals (
    kb_id            uuid not null,
    id               uuid not null,
    subject_id       uuid not null,
    predicate_key    text,
    phrase           text not null,
    object_id        uuid,
    value_norm       text,
    why              text not null default '',
    recorded_seq     bigint not null,
    recorded_at      timestamptz not null,
    invalidated_seq  bigint,                   -- lifted
    invalidated_at   timestamptz,
    primary key (kb_id, id),
    foreign key (kb_id, subject_id) references entities (kb_id, id),
    foreign key (kb_id, object_id) references entities (kb_id, id),
    check (num_nonnulls(object_id, value_norm) = 1),
    check ((invalidated_seq is null) = (invalidated_at is null))
);
create index refusals_held on refusals (kb_id, subject_id) where invalidated_seq is null;

create table refusal_restatements (
    kb_id         uuid not null,
    refusal_id    uuid not null,
    source_key    text not null,
    document_id   uuid,
    recorded_seq  bigint not null,
    recorded_at   timestamptz not null,
    primary key (kb_id, refusal_id, source_key),
    foreign key (kb_id, refusal_id) references refusals (kb_id, id)
);
