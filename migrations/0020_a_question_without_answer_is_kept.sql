-- Questions that found nothing, counted by who asked, until a document answers them or a person lays them aside. Outside
-- the ledger: nothing that is believed hangs on them.
set local lock_timeout = '10s';

-- One per question in its plain form. Secrets are struck out before anything is kept. Null has one meaning per column:
--   closed_at, closed_by              it is open
--   answer_chunk_id, answer_entity_id no passage, no entity answers it
create table gaps (
    kb_id             uuid not null references kb (id),
    id                uuid not null default gen_random_uuid(),
    question          text not null check (question <> ''),        -- as it was first put
    question_plain    text not null check (question_plain <> ''),
    via               text not null check (via in ('search_chunks', 'context', 'find_entities', 'report_gap')),
    asked             integer not null check (asked > 0),
    asked_at          timestamptz not null default clock_timestamp(),
    last_asked_at     timestamptz not null default clock_timestamp(),
    asked_seq         bigint not null check (asked_seq >= 0),      -- where the base stood; what came later may answer it
    checked_seq       bigint not null check (checked_seq >= 0),    -- no passage up to there does
    state             text not null default 'open' check (state in ('open', 'answered', 'dismissed')),
    closed_at         timestamptz,
    closed_by         text,
    why               text not null default '',
    answer_chunk_id   uuid,
    answer_entity_id  uuid,
    primary key (kb_id, id),
    unique (kb_id, question_plain),
    foreign key (kb_id, answer_chunk_id) references chunks (kb_id, id),
    foreign key (kb_id, answer_entity_id) references entities (kb_id, id),
    check ((state = 'open') = (closed_at is null) and (closed_at is null) = (closed_by is null)),
    check ((state = 'answered') = (num_nonnulls(answer_chunk_id, answer_entity_id) = 1))
);
create index gaps_open on gaps (kb_id, asked desc, last_asked_at desc) where state = 'open';

create table gap_askers (
    kb_id          uuid not null,
    gap_id         uuid not null,
    asker          text not null check (asker <> ''),              -- as the ledger names who does something
    asked          integer not null check (asked > 0),
    last_asked_at  timestamptz not null default clock_timestamp(),
    primary key (kb_id, gap_id, asker),
    foreign key (kb_id, gap_id) references gaps (kb_id, id)
);
create index gap_askers_by_name on gap_askers (kb_id, asker);

do $$
declare
    t text;
begin
    foreach t in array array['gaps', 'gap_askers'] loop
        perform protect_base_table(format('public.%I', t)::regclass);
        execute format('grant select, insert, update on %I to twoclocks_app', t);
    end loop;
end $$;
