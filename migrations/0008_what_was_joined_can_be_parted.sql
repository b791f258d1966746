-- Merges, types and verdicts can be taken back, and both clocks show it. An act of a person (merge, retyping, batch of
-- verdicts) is a row that never changes, and so is its revert; what follows from the acts in force is computed anew.
--
-- Null has one meaning per column:
--   retypings.type_key, human_types.type_key   a person said that none of the declared classes fits
--   verdicts.refusal_id                        the proposal was confirmed
--   reverts.merge_id, .retyping_id, .batch_id  the revert is of another kind
set local lock_timeout = '10s';

-- An entity may move several times in one transaction, by a chain of merges, but only once by each.
alter table entity_canonical drop constraint entity_canonical_pkey;
alter table entity_canonical add primary key (kb_id, entity_id, recorded_seq, merge_id);
create index merges_in_order on merges (kb_id, recorded_seq, id);   -- ids count up within a transaction
create index merges_of_kept on merges (kb_id, kept_id);
create index merges_of_absorbed on merges (kb_id, absorbed_id);

-- Live assertions that a refusal keeps out of the facts. Not closed: what a refusal reaches through a merge alone must
-- count again, as it was recorded, once the merge is reverted.
create table withheld (
    kb_id            uuid not null,
    id               uuid not null,
    assertion_id     uuid not null,
    refusal_id       uuid not null,
    recorded_seq     bigint not null,
    recorded_at      timestamptz not null,
    invalidated_seq  bigint,
    invalidated_at   timestamptz,
    primary key (kb_id, id),
    foreign key (kb_id, assertion_id) references assertions (kb_id, id),
    foreign key (kb_id, refusal_id) references refusals (kb_id, id),
    check ((invalidated_seq is null) = (invalidated_at is null))
);
create unique index withheld_once on withheld (kb_id, assertion_id, refusal_id) where invalidated_seq is null;
create index withheld_by_refusal on withheld (kb_id, refusal_id);
create index refusals_of_objects on refusals (kb_id, object_id) where invalidated_seq is null and object_id is not null;

-- What people said of an entity's type. The last one in force counts, above every guess in entity_types.
create table retypings (
    kb_id         uuid not null,
    id            uuid not null,
    entity_id     uuid not null,
    type_key      text,
    why           text not null default '',
    recorded_seq  bigint not null,
    recorded_at   timestamptz not null,
    primary key (kb_id, id),
    foreign key (kb_id, entity_id) references entities (kb_id, id)
);
create index retypings_of_entity on retypings (kb_id, entity_id, recorded_seq, id);
create index retypings_in_order on retypings (kb_id, recorded_seq, id);

create table human_types (
    kb_id            uuid not null,
    id               uuid not null,
    entity_id        uuid not null,
    type_key         text,
    retyping_id      uuid not null,
    recorded_seq     bigint not null,
    recorded_at      timestamptz not null,
    invalidated_seq  bigint,
    invalidated_at   timestamptz,
    primary key (kb_id, id),
    foreign key (kb_id, entity_id) references entities (kb_id, id),
    foreign key (kb_id, retyping_id) references retypings (kb_id, id),
    check ((invalidated_seq is null) = (invalidated_at is null))
);
create unique index human_types_held on human_types (kb_id, entity_id) where invalidated_seq is null;
create index human_types_of_entity on human_types (kb_id, entity_id);

-- Every verdict belongs to a batch, a single one to a batch of one.
create table verdict_batches (
    kb_id         uuid not null,
    id            uuid not null,
    why           text not null default '',
    recorded_seq  bigint not null,
    recorded_at   timestamptz not null,
    primary key (kb_id, id)
);
create table verdicts (
    kb_id         uuid not null,
    batch_id      uuid not null,
    pending_id    uuid not null,
    refusal_id    uuid,
    recorded_seq  bigint not null,
    recorded_at   timestamptz not null,
    primary key (kb_id, batch_id, pending_id),
    unique (kb_id, pending_id),
    foreign key (kb_id, batch_id) references verdict_batches (kb_id, id),
    foreign key (kb_id, pending_id) references pending_facts (kb_id, id),
    foreign key (kb_id, refusal_id) references refusals (kb_id, id)
);

-- A proposal whose verdict is taken back waits again, as a row of its own.
alter table pending_facts drop constraint pending_facts_kb_id_claim_id_key;
create unique index pending_facts_once on pending_facts (kb_id, claim_id) where invalidated_seq is null;
create index pending_facts_of_claim on pending_facts (kb_id, claim_id);
create index pending_facts_of_chunk on pending_facts (kb_id, chunk_id) where verdict = 'confirmed';

create table reverts (
    kb_id         uuid not null,
    id            uuid not null,
    merge_id      uuid,
    retyping_id   uuid,
    batch_id      uuid,
    why           text not null default '',
    recorded_seq  bigint not null,
    recorded_at   timestamptz not null,
    primary key (kb_id, id),
    unique (kb_id, merge_id),
    unique (kb_id, retyping_id),
    unique (kb_id, batch_id),
    foreign key (kb_id, merge_id) references merges (kb_id, id),
    foreign key (kb_id, retyping_id) references retypings (kb_id, id),
    foreign key (kb_id, batch_id) references verdict_batches (kb_id, id),
    check (num_nonnulls(merge_id, retyping_id, batch_id) = 1)
);

-- A fact that ends since two entities were told apart, and an assertion whose confirmation was taken back.
alter table facts drop constraint facts_invalidated_kind_check;
alter table facts add check (invalidated_kind in ('corrected', 'retracted', 'rejected', 'merged', 'parted'));
alter table assertions drop constraint assertions_invalidated_kind_check;
alter table assertions add check (invalidated_kind in ('deleted', 'superseded', 'rejected', 'rebound', 'unconfirmed'));

do $$
declare
    t text;
begin
    -- closed once
    foreach t in array array['withheld', 'human_types'] loop
        execute format('create trigger close_once before update on %I for each row execute function ledger_close_once()', t);
        execute format('create trigger no_delete before delete on %I for each row execute function ledger_refuse()', t);
        execute format('create trigger no_truncate before truncate on %I for each statement execute function ledger_refuse()', t);
        execute format('grant select, insert, update (invalidated_seq, invalidated_at) on %I to twoclocks_app', t);
    end loop;
    -- never touched again
    foreach t in array array['retypings', 'verdict_batches', 'verdicts', 'reverts'] loop
        execute format('create trigger no_change before update or delete on %I for each row execute function ledger_refuse()', t);
        execute format('create trigger no_truncate before truncate on %I for each statement execute function ledger_refuse()', t);
        execute format('grant select, insert on %I to twoclocks_app', t);
    end loop;
    grant usage on all sequences in schema public to twoclocks_app;
end $$;
