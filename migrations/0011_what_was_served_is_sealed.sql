-- What was served to whom, and what an extractor said of a passage, stand outside the chain: neither needs the base's
-- head lock. Each such row carries the canonical bytes of its content and their hash from the moment it is inserted;
-- a sealer gathers what is new into a batch, and each batch is a row here that follows the one before it.
set local lock_timeout = '10s';

create table audit_seals (
    kb_id        uuid not null references kb (id),
    number       bigint not null check (number > 0),
    sealed_at    timestamptz not null,
    events       integer not null check (events >= 0),
    extractions  integer not null check (extractions >= 0),
    root         bytea not null check (length(root) = 32),        -- RFC 6962: events by id, then extractions
    prev_hash    bytea not null check (length(prev_hash) = 32),
    hash         bytea not null check (length(hash) = 32),
    primary key (kb_id, number),
    unique (kb_id, prev_hash),                                     -- two seals with one predecessor would be a fork
    check (events + extractions > 0)
);

-- The batch is named in the row, not by a window of transaction numbers: such a window waits for the longest
-- transaction of the whole server, and begins anew where a dump is restored into another one.
alter table access_events add column payload bytea, add column hash bytea, add column seal bigint;
alter table extraction_usage
    add column kept_at timestamptz,
    add column claims integer,
    add column drops integer,
    add column content bytea check (length(content) = 32),        -- SHA-256 over the claims and drops of this reading
    add column payload bytea,
    add column hash bytea,
    add column seal bigint;
alter table extraction_usage alter column kept_at set default clock_timestamp();

create function canonical_time(moment timestamptz) returns text language sql stable
    return to_char(moment at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"');

create function access_event_bytes(e access_events) returns bytea language sql stable
    return convert_to(concat(
        '{"action":', to_json(e.action), ',"at":"', canonical_time(e.at), '","base":"', e.kb_id,
        '","chunk_ids":', array_to_json(e.chunk_ids), ',"fact_ids":', array_to_json(e.fact_ids), ',"id":', e.id,
        ',"person_id":', coalesce(to_json(e.person_id)::text, 'null'), ',"seq":', coalesce(e.seq::text, 'null'),
        ',"token_id":', coalesce(to_json(e.token_id)::text, 'null'), ',"via":', to_json(e.via), '}'), 'UTF8');

create function extraction_bytes(u extraction_usage) returns bytea language sql stable
    return convert_to(concat(
        '{"base":"', u.kb_id, '","chunk_id":"', u.chunk_id, '","claims":', u.claims,
        ',"completion_tokens":', u.completion_tokens, ',"content":"', encode(u.content, 'hex'), '","drops":', u.drops,
        ',"extractor":', to_json(u.extractor), ',"kept_at":"', canonical_time(u.kept_at),
        '","prompt_tokens":', u.prompt_tokens, '}'), 'UTF8');

-- The bytes are kept, so that no later change of this spelling, or of the server's, can break a seal.
create function access_event_content() returns trigger language plpgsql as $$
begin
    new.payload := access_event_bytes(new);
    new.hash := sha256('\x00'::bytea || new.payload);
    return new;
end $$;

create function extraction_content() returns trigger language plpgsql as $$
begin
    new.payload := extraction_bytes(new);
    new.hash := sha256('\x00'::bytea || new.payload);
    return new;
end $$;

create function ledger_seal_once() returns trigger language plpgsql as $$
declare
    number bigint := new.seal;
begin
    new.seal := null;
    if old.seal is not null or number is null or new is distinct from old then
        raise exception 'a row of % may be sealed once and never rewritten', tg_table_name
            using errcode = 'insufficient_privilege';
    end if;
    new.seal := number;
    return new;
end $$;

drop trigger no_change on access_events;
drop trigger no_change on extraction_usage;
update access_events e set payload = access_event_bytes(e), hash = sha256('\x00'::bytea || access_event_bytes(e));
alter table access_events alter column payload set not null, alter column hash set not null;
-- What was read before this has no digest and is never sealed; a verification counts it apart.
alter table extraction_usage add constraint content_is_hashed
    check (num_nulls(kept_at, claims, drops, content, payload, hash) = 0) not valid;

create index access_events_by_seal on access_events (kb_id, seal, id);
create index extraction_usage_by_seal on extraction_usage (kb_id, seal);

create trigger content before insert on access_events for each row execute function access_event_content();
create trigger content before insert on extraction_usage for each row execute function extraction_content();

do $$
declare
    t text;
begin
    foreach t in array array['access_events', 'extraction_usage'] loop
        execute format('create trigger seal_once before update on %I for each row execute function ledger_seal_once()', t);
        execute format('create trigger no_delete before delete on %I for each row execute function ledger_refuse()', t);
        execute format('revoke insert on %I from twoclocks_app', t);
        execute format('grant update (seal) on %I to twoclocks_app', t);
    end loop;
    grant insert (kb_id, at, person_id, token_id, via, action, seq, fact_ids, chunk_ids) on access_events to twoclocks_app;
    grant insert (kb_id, chunk_id, extractor, prompt_tokens, completion_tokens, claims, drops, content)
        on extraction_usage to twoclocks_app;
    create trigger no_change before update or delete on audit_seals for each row execute function ledger_refuse();
    create trigger no_truncate before truncate on audit_seals for each statement execute function ledger_refuse();
    grant select, insert on audit_seals to twoclocks_app;
end $$;
