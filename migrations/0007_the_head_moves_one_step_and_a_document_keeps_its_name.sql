-- What 0006 left open: the head of a base and the row of a document could be rewritten, and a closing could carry a
-- new `why` into a table whose `why` is a statement of its own.
set local lock_timeout = '10s';

create function kb_head_moves_one_step() returns trigger language plpgsql as $$
begin
    if new.kb_id <> old.kb_id or new.seq <> old.seq + 1 or new.at <= old.at or new.hash = old.hash then
        raise exception 'the head of a base moves one transaction at a time, forward'
            using errcode = 'insufficient_privilege';
    end if;
    return new;
end $$;

create function documents_change_missing_alone() returns trigger language plpgsql as $$
begin
    if (to_jsonb(old) - 'missing_at') is distinct from (to_jsonb(new) - 'missing_at') then
        raise exception 'of a document only missing_at may change' using errcode = 'insufficient_privilege';
    end if;
    return new;
end $$;

create or replace function ledger_close_once() returns trigger language plpgsql as $$
declare
    closing text[] := array['invalidated_seq', 'invalidated_at', 'invalidated_kind'];
begin
    if tg_table_name = 'pending_facts' then
        closing := closing || array['verdict', 'decided_by', 'why'];
    end if;
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
    create trigger one_step before update on kb_head for each row execute function kb_head_moves_one_step();
    create trigger missing_alone before update on documents for each row execute function documents_change_missing_alone();
    foreach t in array array['kb_head', 'documents'] loop
        execute format('create trigger no_delete before delete on %I for each row execute function ledger_refuse()', t);
        execute format('create trigger no_truncate before truncate on %I for each statement execute function ledger_refuse()', t);
        execute format('revoke update on %I from twoclocks_app', t);
    end loop;
    grant update (seq, at, hash) on kb_head to twoclocks_app;
    grant update (missing_at) on documents to twoclocks_app;
end $$;
