-- Vectors of two models stand side by side during a change of model or endpoint: the one that has read every passage
-- serves until the other has. And what was read once is not read again: a vector is known by the text and the model.
set local lock_timeout = '10s';

-- How a model is opened again by a process that is set to another one. Never a key.
create table vector_models (
    kb_id      uuid not null references kb (id),
    model      text not null check (model <> ''),   -- as in `embeddings`: the model, and how its text is put together
    opened_by  jsonb not null check (jsonb_typeof(opened_by) = 'object'),
    dimension  integer not null check (dimension > 0),
    met_at     timestamptz not null default clock_timestamp(),
    primary key (kb_id, model)
);

-- The model whose vectors answer; moved in one statement once another has a vector for every passage.
create table vector_serving (
    kb_id  uuid primary key,
    model  text not null,
    since  timestamptz not null default clock_timestamp(),
    foreign key (kb_id, model) references vector_models (kb_id, model)
);

alter table embeddings add column text_sha256 bytea check (length(text_sha256) = 32);
create index embeddings_of_text on embeddings (kb_id, model, text_sha256) where text_sha256 is not null;

-- What a search may be narrowed to.
create index documents_in_namespace on documents (kb_id, namespace);
create index document_versions_dated on document_versions (kb_id, doc_time) where doc_time is not null;

do $$
begin
    grant select, insert, update on vector_models, vector_serving to twoclocks_app;
    perform protect_base_table('public.vector_models'::regclass);
    perform protect_base_table('public.vector_serving'::regclass);
end $$;
