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

-- And only of events that the purge just chained names: the last transaction of the base says which.
create function ledger_log_erase_what_a_purge_names() returns trigger language plpgsql as $$
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
