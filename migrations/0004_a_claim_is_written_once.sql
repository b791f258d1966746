-- What one passage says, once per (chunk, extractor version). A model is paid here and nowhere else.
set local lock_timeout = '10s';

create table claims (
    kb_id                 uuid not null,
    id                    uuid not null,
    chunk_id              uuid not null,
    extractor             text not null,       -- name@version
    ordinal               integer not null check (ordinal >= 0),
    subject               text not null check (subject <> ''),
    subject_kind          text,
    phrase                text not null check (phrase <> ''),
    wording               text not null default '',
    object                text,
    object_kind           text,
    value_raw             text,
    value_number          numeric,
    value_unit            text,
    value_type            text check (value_type in ('text', 'number', 'money', 'date', 'bool')),
    qualifiers            jsonb not null default '[]',
    quote                 text not null check (quote <> ''),
    quote_start           integer not null check (quote_start >= 0),
    quote_end             integer not null,
    valid_from            timestamptz,
    valid_from_precision  text check (valid_from_precision in ('year', 'month', 'day', 'hour', 'minute', 'second')),
    valid_to              timestamptz,
    valid_to_precision    text check (valid_to_precision in ('year', 'month', 'day', 'hour', 'minute', 'second', 'unknown')),
    grade                 text not null check (grade in ('A', 'B', 'C')),
    time_words            text not null default '',
    at_event              boolean not null default false,
    mood                  text check (mood in ('planned', 'negated', 'hedged', 'conditional', 'reported', 'question')),
    denies                boolean not null default false,
    corrects              boolean not null default false,
    confidence            real not null check (confidence >= 0 and confidence <= 1),
    primary key (kb_id, id),
    unique (kb_id, chunk_id, extractor, ordinal),
    foreign key (kb_id, chunk_id) references chunks (kb_id, id),
    check (num_nonnulls(object, value_raw) = 1),
    check ((value_raw is null) = (value_type is null)),
    check (quote_end > quote_start),
    check ((valid_from is null) = (valid_from_precision is null)),
    check ((valid_to is null) = (valid_to_precision is null or valid_to_precision = 'unknown'))
);

create table extraction_drops (
    kb_id      uuid not null,
    chunk_id   uuid not null,
    extractor  text not null,
    ordinal    integer not null,
    code       text not null check (code <> ''),
    detail     text not null default '',
    example    text not null default '',
    primary key (kb_id, chunk_id, extractor, ordinal),
    foreign key (kb_id, chunk_id) references chunks (kb_id, id)
);

create table extraction_usage (
    kb_id              uuid not null,
    chunk_id           uuid not null,
    extractor          text not null,
    prompt_tokens      integer not null default 0,
    completion_tokens  integer not null default 0,
    primary key (kb_id, chunk_id, extractor),
    foreign key (kb_id, chunk_id) references chunks (kb_id, id)
);
