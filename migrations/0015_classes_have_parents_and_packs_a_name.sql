-- What surrounds the terms of a base: the plan of an edit, which is applied as it was shown; the vectors of the terms
-- beside the words and the model they were made of; and what a person said of a defect.
set local lock_timeout = '10s';

-- A file as it came, and what it would change. `id` is the digest of everything the plan shows, so that a plan made
-- anew under the head lock is the same or is another one.
create table ontology_plans (
    kb_id        uuid not null references kb (id),
    id           text not null check (id ~ '^[0-9a-f]{64}$'),
    source       text not null,
    source_name  text not null default '',
    mode         text not null check (mode in ('replace', 'add')),
    wanted       jsonb not null,
    shown        jsonb not null,
    made_by      text not null,
    made_at      timestamptz not null default clock_timestamp(),
    applied_seq  bigint,
    primary key (kb_id, id)
);
create index ontology_plans_by_time on ontology_plans (kb_id, made_at);
grant select, insert, update, delete on ontology_plans to twoclocks_app;
select protect_base_table('public.ontology_plans'::regclass);

-- What of a term is embedded: its label, its other words, its description. A vector of other words is stale.
create function term_words(definition jsonb) returns text
language sql immutable parallel safe set search_path = pg_catalog, pg_temp
return concat_ws(
    E'\n',
    definition ->> 'label',
    nullif((select string_agg(word, '; ' order by place)
            from jsonb_array_elements_text(coalesce(definition -> 'aliases', '[]')) with ordinality as w (word, place)), ''),
    nullif(definition ->> 'description', '')
);

create table term_vectors (
    kb_id      uuid not null references kb (id),
    term_key   text not null check (term_key ~ '^[a-z0-9_]{1,40}$'),
    model      text not null check (model <> ''),
    words      text not null,
    embedding  vector not null,
    primary key (kb_id, model, term_key)
);
grant select, insert, update, delete on term_vectors to twoclocks_app;
select protect_base_table('public.term_vectors'::regclass);

-- Defects are computed from what is held; that a person lives with one is a row. It is known by what it says.
create table defect_waivers (
    kb_id            uuid not null references kb (id),
    id               uuid not null,
    code             text not null check (code <> ''),
    fingerprint      text not null check (fingerprint ~ '^[0-9a-f]{64}$'),
    why              text not null default '',
    recorded_seq     bigint not null,
    recorded_at      timestamptz not null,
    invalidated_seq  bigint,                   -- lifted
    invalidated_at   timestamptz,
    primary key (kb_id, id),
    check ((invalidated_seq is null) = (invalidated_at is null))
);
create unique index defect_waivers_held on defect_waivers (kb_id, fingerprint) where invalidated_seq is null;
create trigger close_once before update on defect_waivers for each row execute function ledger_close_once();
create trigger no_delete before delete on defect_waivers for each row execute function ledger_refuse();
create trigger no_truncate before truncate on defect_waivers for each statement execute function ledger_refuse();
grant select, insert, update (invalidated_seq, invalidated_at) on defect_waivers to twoclocks_app;
select protect_base_table('public.defect_waivers'::regclass);
