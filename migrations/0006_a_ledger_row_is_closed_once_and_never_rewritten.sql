-- The application's role may insert into the ledger and set a row's closing columns from null once. The grants say
-- so to the role, the triggers say so to everyone, the owner included.
set local lock_timeout = '10s';

do $$
begin
    create role twoclocks_app nologin;
exception
    when duplicate_object or unique_violation then null;   -- roles are the cluster's, not the database's
end $$;

do $$
begin
    execute format('grant twoclocks_app to %I', current_user);
end $$;

create function ledger_refuse() returns trigger language plpgsql as $$
begin
    raise exception '% on % is refused: the ledger is append-only', tg_op, tg_table_name
        using errcode = 'insufficient_privilege';
end $$;

-- Compares whole rows without the closing columns, so that a column added later is protected without a new trigger.
create function ledger_close_once() returns trigger language plpgsql as $$
declare
    closing constant text[] := array['invalidated_seq', 'invalidated_at', 'invalidated_kind', 'verdict', 'decided_by', 'why'];
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
    grant usage on schema public to twoclocks_app;

    -- closed once
    foreach t in array array['document_versions', 'chunks', 'ontology_terms', 'entity_types', 'entity_canonical',
                             'assertions', 'facts', 'evidence', 'pending_facts', 'refusals'] loop
        execute format('create trigger close_once before update on %I for each row execute function ledger_close_once()', t);
        execute format('create trigger no_delete before delete on %I for each row execute function ledger_refuse()', t);
        execute format('create trigger no_truncate before truncate on %I for each statement execute function ledger_refuse()', t);
        execute format('grant select, insert, update (invalidated_seq, invalidated_at) on %I to twoclocks_app', t);
    end loop;
    grant update (invalidated_kind) on document_versions, chunks, assertions, facts to twoclocks_app;
    grant update (verdict, decided_by, why) on pending_facts to twoclocks_app;

    -- never touched again
    foreach t in array array['ledger_transaction', 'ledger_log', 'claims', 'extraction_drops', 'extraction_usage', 'entities',
                             'mentions', 'merges', 'refusal_restatements', 'access_events'] loop
        execute format('create trigger no_change before update or delete on %I for each row execute function ledger_refuse()', t);
        execute format('create trigger no_truncate before truncate on %I for each statement execute function ledger_refuse()', t);
        execute format('grant select, insert on %I to twoclocks_app', t);
    end loop;

    -- ordinary tables
    grant select, insert, update on kb, kb_head, people, kb_members, tokens, sources, work, parse_results to twoclocks_app;
    grant select, insert on blobs to twoclocks_app;
    grant select, insert, update on documents to twoclocks_app;
    grant select, insert, update, delete on embeddings to twoclocks_app;
    grant delete on kb_members to twoclocks_app;
    grant usage on all sequences in schema public to twoclocks_app;
end $$;
