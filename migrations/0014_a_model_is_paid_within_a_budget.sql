-- What a base may spend on a language model in a day, what it has spent, and what calls that are under way may cost.
-- Days are UTC. Outside the ledger: nothing that is believed hangs on it.
set local lock_timeout = '10s';

-- The row with the highest number counts; a null in it is no limit. A base without a row has what the settings say.
create table model_budgets (
    kb_id           uuid not null references kb (id),
    number          integer not null check (number > 0),
    tokens_per_day  bigint check (tokens_per_day >= 0),
    cost_per_day    numeric check (cost_per_day >= 0 and cost_per_day < 'infinity'),
    set_by          text not null check (set_by <> ''),
    why             text not null default '',
    set_at          timestamptz not null default clock_timestamp(),
    primary key (kb_id, number)
);

-- Counted when an answer comes, whether or not it can be used. `estimated_tokens` are of answers that their server did
-- not count. The row is the lock that reservations of its day are made under.
create table model_spending (
    kb_id              uuid not null references kb (id),
    day                date not null,
    answers            bigint not null default 0 check (answers >= 0),
    prompt_tokens      bigint not null default 0 check (prompt_tokens >= 0),
    completion_tokens  bigint not null default 0 check (completion_tokens >= 0),
    estimated_tokens   bigint not null default 0 check (estimated_tokens >= 0),
    cost               numeric not null default 0 check (cost >= 0),
    paused_at          timestamptz,              -- since when the budget lets no call begin
    paused_by          text,                     -- which limit, in words
    primary key (kb_id, day),
    check ((paused_at is null) = (paused_by is null))
);

-- One per passage that is asked about; of a worker that died it ends by itself.
create table model_reservations (
    kb_id     uuid not null,
    day       date not null,
    chunk_id  uuid not null,
    tokens    bigint not null check (tokens >= 0),
    cost      numeric not null check (cost >= 0),
    until     timestamptz not null,
    primary key (kb_id, day, chunk_id),
    foreign key (kb_id, day) references model_spending (kb_id, day),
    foreign key (kb_id, chunk_id) references chunks (kb_id, id)
);

-- Which extractor reads a base from when on. A pass of an earlier epoch asks no model any more.
create table extraction_epochs (
    kb_id      uuid not null references kb (id),
    number     integer not null check (number > 0),
    extractor  text not null check (extractor <> ''),     -- name@version
    began_at   timestamptz not null default clock_timestamp(),
    primary key (kb_id, number)
);

do $$
declare
    t text;
begin
    foreach t in array array['model_budgets', 'model_spending', 'model_reservations', 'extraction_epochs'] loop
        perform protect_base_table(format('public.%I', t)::regclass);
    end loop;
    foreach t in array array['model_budgets', 'extraction_epochs'] loop
        execute format('create trigger no_change before update or delete on %I for each row execute function ledger_refuse()', t);
        execute format('create trigger no_truncate before truncate on %I for each statement execute function ledger_refuse()', t);
        execute format('grant select, insert on %I to twoclocks_app', t);
    end loop;
    grant select, insert, update on model_spending to twoclocks_app;
    grant select, insert, update, delete on model_reservations to twoclocks_app;
end $$;
