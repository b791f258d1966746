-- What sustained writing costs; and a chain from which one event's words can be taken without breaking it.
set local lock_timeout = '10s';

-- An event of format 2 is hashed over the hash of its salt and its payload, so that both can be erased and every later
-- link still be recomputed. The salt keeps short words from being guessed by their hash. Events that were written
-- before have no salt: they are of format 1, hashed over the payload itself, and are verified as such.
alter table ledger_log
    alter column payload drop not null,
    add column salt bytea check (length(salt) = 16),
    add column payload_hash bytea check (length(payload_hash) = 32),     -- of an erased event alone
    add constraint ledger_log_erased_whole
        check ((payload is null) = (payload_hash is not null) and (payload is not null or salt is null));

-- Within a transaction `ordinal` forbids a fork; between transactions the first event's predecessor does.
alter table ledger_log drop constraint ledger_log_kb_id_prev_hash_key;
create unique index ledger_log_one_successor on ledger_log (kb_id, prev_hash) where ordinal = 0;

-- The one change of an event: payload and salt give way to their hash. Only events that write rows have words in them.
create function ledger_log_erase_once() returns trigger language plpgsql as $$
begin
    if new.payload is not null or new.salt is not null or old.payload is null or old.salt is null
       or new.payload_hash is distinct from sha256(old.salt || old.payload) or old.kind not like 'insert %'
       or (old.kb_id, old.seq, old.ordinal, old.kind, old.prev_hash, old.hash)
          is distinct from (new.kb_id, new.seq, new.ordinal, new.kind, new.prev_hash, new.hash) then
        raise exception 'update on ledger_log is refused: the ledger is append-only'
            using errcode = 'insufficient_privilege';
    end if;
    return new;
end $$;

-- And only of events that the purge just chained names: the last transaction of the base says which. Here and below the
-- path is pinned: a session's temporary tables come first otherwise, and one of these names would be believed.
create function ledger_log_erase_what_a_purge_names() returns trigger
language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
    if exists (
        select e.kb_id, e.seq, e.ordinal from erased e
        except
        select p.kb_id, (named ->> 0)::bigint, (named ->> 1)::integer
        from (select distinct kb_id from erased) b
        join kb_head h on h.kb_id = b.kb_id
        join ledger_log p on p.kb_id = h.kb_id and p.seq = h.seq and p.kind = 'purge'
        cross join jsonb_array_elements(convert_from(p.payload, 'UTF8')::jsonb -> 'events') named
        where (named ->> 0)::bigint < p.seq
    ) then
        raise exception 'update on ledger_log is refused: no purge names these events'
            using errcode = 'insufficient_privilege';
    end if;
    return null;
end $$;

drop trigger no_change on ledger_log;
create trigger no_delete before delete on ledger_log for each row execute function ledger_refuse();
create trigger erase_once before update on ledger_log for each row execute function ledger_log_erase_once();
create trigger erase_what_a_purge_names after update on ledger_log
    referencing new table as erased for each statement execute function ledger_log_erase_what_a_purge_names();
grant update (payload, salt, payload_hash) on ledger_log to twoclocks_app;

-- References of the tables that grow with every statement, asked once for a statement's rows and not once for each
-- row: 45 of the 140 us that the server spent on a fact went into them. What is referred to is never deleted and never
-- renamed (0006 refuses both), so nothing has to be locked and nothing to be asked again. Each trigger names pairs of a
-- column and the table whose row of the same base it must name.
create function ledger_refers() returns trigger
language plpgsql set search_path = pg_catalog, public, pg_temp as $$
declare
    missing boolean;
begin
    for i in 0 .. tg_nargs - 2 by 2 loop
        -- A sub-select stays one look into an index for each value; a join might read the whole table.
        execute format(
            'select exists (select from (select distinct kb_id, %1$I as named from written where %1$I is not null) w
                            where (select r.id from %2$I r where r.kb_id = w.kb_id and r.id = w.named) is null)',
            tg_argv[i], tg_argv[i + 1]) into missing;
        if missing then
            raise exception '% of a row of % names no row of % in its base', tg_argv[i], tg_table_name, tg_argv[i + 1]
                using errcode = 'foreign_key_violation', table = tg_table_name, column = tg_argv[i];
        end if;
    end loop;
    return null;
end $$;

do $$
declare
    c record;
    pairs text;
    t text;
begin
    foreach t in array array['assertions', 'facts', 'evidence'] loop
        pairs := null;
        for c in
            select con.conname, con.confrelid::regclass::text as referred, a.attname
            from pg_constraint con
            join pg_attribute a on a.attrelid = con.conrelid and a.attnum = con.conkey[2]
            join pg_attribute r on r.attrelid = con.confrelid and r.attnum = con.confkey[2]
            where con.conrelid = t::regclass and con.contype = 'f' and cardinality(con.conkey) = 2 and r.attname = 'id'
            order by con.conname
        loop
            pairs := concat_ws(', ', pairs, quote_literal(c.attname), quote_literal(c.referred));
            execute format('alter table %I drop constraint %I', t, c.conname);
        end loop;
        execute format('create trigger refers after insert on %I referencing new table as written '
                       'for each statement execute function ledger_refers(%s)', t, pairs);
    end loop;
end $$;

-- The log's rows and their transaction's row are written by one function call of the door, the transaction first.
create function ledger_log_refers() returns trigger
language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
    if exists (select from (select distinct kb_id, seq from written) w
               where not exists (select from ledger_transaction t where t.kb_id = w.kb_id and t.seq = w.seq)) then
        raise exception 'an event of ledger_log names no transaction of its base' using errcode = 'foreign_key_violation';
    end if;
    return null;
end $$;
alter table ledger_log drop constraint ledger_log_kb_id_seq_fkey;
create trigger refers after insert on ledger_log referencing new table as written
    for each statement execute function ledger_log_refers();

-- An index leads to the relation, and where a triple is asked for to its object: writing asks for few of an entity's
-- rows, and read them all before, 95 us of each fact at two hundred thousand.
drop index facts_held_by_subject, facts_held_by_object, assertions_of_subject;
create index facts_held_by_subject on facts (kb_id, subject_id, predicate_key) where invalidated_seq is null;
create index facts_held_by_object on facts (kb_id, object_id, predicate_key) where invalidated_seq is null and object_id is not null;
create index assertions_of_subject on assertions (kb_id, subject_id, predicate_key, object_id) where invalidated_seq is null;

-- The rows of most statements, compared byte by byte; as JSON that took ten times as long. A column that is added later
-- is compared too.
create function ledger_close_once_for_a_reason() returns trigger language plpgsql as $$
declare
    kept record := new;
begin
    kept.invalidated_seq := null;
    kept.invalidated_at := null;
    kept.invalidated_kind := null;
    if old.invalidated_seq is not null or new.invalidated_seq is null or kept *<> old then
        raise exception 'a row of % may be closed once and never rewritten', tg_table_name
            using errcode = 'insufficient_privilege';
    end if;
    return new;
end $$;

do $$
declare
    t record;
begin
    for t in select tgrelid::regclass as name, pg_get_triggerdef(oid) as made from pg_trigger
             where tgname = 'close_once' and tgrelid in ('facts'::regclass, 'assertions'::regclass) loop
        execute replace(replace(t.made, 'ledger_close_once()', 'ledger_close_once_for_a_reason()'),
                        'CREATE TRIGGER', 'CREATE OR REPLACE TRIGGER');
    end loop;
end $$;
