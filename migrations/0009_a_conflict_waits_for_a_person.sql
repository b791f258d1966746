-- What two sources say against one another is a row that a person decides, and a person's own word on a period is one
-- that the engine does not touch.
--
-- Null has one meaning per column:
--   conflicts.verdict          still open
--   conflicts.reopens          raised by the statements themselves, not by a verdict that was taken back
--   corrections.conflict_id    a person's word of its own, not one that a verdict on a conflict made
set local lock_timeout = '10s';

-- Both sides are named by their triples, judged on canonical ids so that a decision follows merges, and by the lineage
-- of the fact each stood in when the conflict was raised. `said` is where the side stands in the world, as text: the
-- same triple with another period is another statement.
create table conflicts (
    kb_id             uuid not null references kb (id),
    id                uuid not null,
    reason            text not null check (reason in ('no_time', 'simultaneous', 'unanchored', 'ends', 'disagrees')),
    predicate_key     text,
    phrase            text not null check (phrase <> ''),
    old_subject_id    uuid not null,
    old_object_id     uuid,
    old_value_norm    text,
    old_said          text not null,
    old_lineage_id    uuid not null,
    old_assertion_id  uuid not null,
    new_subject_id    uuid not null,
    new_object_id     uuid,
    new_value_norm    text,
    new_said          text not null,
    new_lineage_id    uuid not null,
    new_assertion_id  uuid not null,
    reopens           uuid,
    recorded_seq      bigint not null,
    recorded_at       timestamptz not null,
    invalidated_seq   bigint,
    invalidated_at    timestamptz,
    verdict           text check (verdict in ('closed', 'kept_both', 'rejected_new', 'withdrawn')),
    decided_by        text,
    why               text,
    primary key (kb_id, id),
    foreign key (kb_id, old_subject_id) references entities (kb_id, id),
    foreign key (kb_id, old_object_id) references entities (kb_id, id),
    foreign key (kb_id, old_assertion_id) references assertions (kb_id, id),
    foreign key (kb_id, new_subject_id) references entities (kb_id, id),
    foreign key (kb_id, new_object_id) references entities (kb_id, id),
    foreign key (kb_id, new_assertion_id) references assertions (kb_id, id),
    foreign key (kb_id, reopens) references conflicts (kb_id, id),
    check (num_nonnulls(old_object_id, old_value_norm) = 1 and num_nonnulls(new_object_id, new_value_norm) = 1),
    check ((invalidated_seq is null) = (verdict is null) and (invalidated_seq is null) = (decided_by is null)
           and (invalidated_seq is null) = (invalidated_at is null))
);
create index conflicts_open on conflicts (kb_id, recorded_seq, id) where invalidated_seq is null;
create index conflicts_of_old on conflicts (kb_id, old_lineage_id);
create index conflicts_of_new on conflicts (kb_id, new_lineage_id);
create index conflicts_of_old_subject on conflicts (kb_id, old_subject_id);
create index conflicts_of_new_subject on conflicts (kb_id, new_subject_id);
create unique index conflicts_reopened_once on conflicts (kb_id, reopens) where reopens is not null;

-- A person's word on the period of one fact. The word itself is an assertion; this row says which fact it was about,
-- which of the two ends it fixes, and what the statements that the person had before them said of time (`seen`).
create table corrections (
    kb_id            uuid not null references kb (id),
    id               uuid not null,
    kind             text not null check (kind in ('period', 'closed', 'confirmed')),
    assertion_id     uuid not null,
    fact_id          uuid not null,
    fixes_start      boolean not null,
    fixes_end        boolean not null,
    seen             text[] not null default '{}',
    conflict_id      uuid,
    why              text not null default '',
    recorded_seq     bigint not null,
    recorded_at      timestamptz not null,
    invalidated_seq  bigint,
    invalidated_at   timestamptz,
    primary key (kb_id, id),
    foreign key (kb_id, assertion_id) references assertions (kb_id, id),
    foreign key (kb_id, fact_id) references facts (kb_id, id),
    foreign key (kb_id, conflict_id) references conflicts (kb_id, id),
    check ((invalidated_seq is null) = (invalidated_at is null))
);
create unique index corrections_of_assertion on corrections (kb_id, assertion_id) where invalidated_seq is null;
create index corrections_of_conflict on corrections (kb_id, conflict_id) where conflict_id is not null;
create index corrections_recorded on corrections (kb_id, recorded_seq, id);

-- A person's word that was taken back.
alter table assertions drop constraint assertions_invalidated_kind_check;
alter table assertions add check (invalidated_kind in ('deleted', 'superseded', 'rejected', 'rebound', 'unconfirmed', 'undone'));

create function conflicts_close_once() returns trigger language plpgsql as $$
declare
    closing constant text[] := array['invalidated_seq', 'invalidated_at', 'verdict', 'decided_by', 'why'];
begin
    if old.invalidated_seq is not null or new.invalidated_seq is null
       or (to_jsonb(old) - closing) is distinct from (to_jsonb(new) - closing) then
        raise exception 'a row of % may be closed once and never rewritten', tg_table_name
            using errcode = 'insufficient_privilege';
    end if;
    return new;
end $$;

do $$
declare
    t text;
begin
    create trigger close_once before update on conflicts for each row execute function conflicts_close_once();
    create trigger close_once before update on corrections for each row execute function ledger_close_once();
    foreach t in array array['conflicts', 'corrections'] loop
        execute format('create trigger no_delete before delete on %I for each row execute function ledger_refuse()', t);
        execute format('create trigger no_truncate before truncate on %I for each statement execute function ledger_refuse()', t);
        execute format('grant select, insert, update (invalidated_seq, invalidated_at) on %I to twoclocks_app', t);
    end loop;
    grant update (verdict, decided_by, why) on conflicts to twoclocks_app;
end $$;
