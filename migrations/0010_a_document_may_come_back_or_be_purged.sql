-- A deletion is an event with its list; it can be undone, or followed by a purge that leaves a tombstone.
set local lock_timeout = '10s';

-- What one deletion took, exactly: the rows it closed. A fact is in `fact_ids` where its every evidence went (the row
-- that was held until then), and in `weakened_ids` where it lost some and stays (the row that is held from then on).
create table document_deletions (
    kb_id          uuid not null,
    id             uuid not null,
    document_id    uuid not null,
    why            text not null default '',
    version_ids    uuid[] not null,
    chunk_ids      uuid[] not null,
    assertion_ids  uuid[] not null,
    proposal_ids   uuid[] not null,
    fact_ids       uuid[] not null,
    weakened_ids   uuid[] not null,
    recorded_seq   bigint not null,
    recorded_at    timestamptz not null,
    primary key (kb_id, id),
    foreign key (kb_id, document_id) references documents (kb_id, id)
);
create index document_deletions_of on document_deletions (kb_id, document_id, recorded_seq);

-- What a restoration wrote: closed rows are never reopened, so each row that came back is a new one, and `items` says
-- which it stands for: {"versions": [[old, new], …], "chunks": …, "assertions": …, "proposals": …, "facts": …}.
create table document_restorations (
    kb_id         uuid not null,
    id            uuid not null,
    deletion_id   uuid not null,
    document_id   uuid not null,
    why           text not null default '',
    items         jsonb not null,
    recorded_seq  bigint not null,
    recorded_at   timestamptz not null,
    primary key (kb_id, id),
    unique (kb_id, deletion_id),
    foreign key (kb_id, deletion_id) references document_deletions (kb_id, id),
    foreign key (kb_id, document_id) references documents (kb_id, id)
);
create index document_restorations_of on document_restorations (kb_id, document_id);

do $$
declare
    t text;
begin
    foreach t in array array['document_deletions', 'document_restorations'] loop
        execute format('create trigger no_change before update or delete on %I for each row execute function ledger_refuse()', t);
        execute format('create trigger no_truncate before truncate on %I for each statement execute function ledger_refuse()', t);
        execute format('grant select, insert on %I to twoclocks_app', t);
    end loop;
end $$;

-- That a document's words were erased for good: a person's act, which cannot be undone. What is left of its rows are
-- tombstones that other rows still point at.
create table document_purges (
    kb_id         uuid not null,
    id            uuid not null,
    document_id   uuid not null,
    why           text not null check (why <> ''),
    recorded_seq  bigint not null,
    recorded_at   timestamptz not null,
    primary key (kb_id, id),
    unique (kb_id, document_id),
    foreign key (kb_id, document_id) references documents (kb_id, id)
);

-- A purge that the chain does not know of cannot be committed.
create function document_purges_are_chained() returns trigger
language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
    if not exists (
        select from ledger_log l
        where l.kb_id = new.kb_id and l.seq = new.recorded_seq and l.kind = 'purge'
          and convert_from(l.payload, 'UTF8')::jsonb ->> 'id' = new.id::text
    ) then
        raise exception 'a purge must be chained in its own transaction' using errcode = 'insufficient_privilege';
    end if;
    return null;
end $$;
create constraint trigger chained after insert on document_purges deferrable initially deferred
    for each row execute function document_purges_are_chained();
create trigger no_change before update or delete on document_purges for each row execute function ledger_refuse();
create trigger no_truncate before truncate on document_purges for each statement execute function ledger_refuse();
grant select, insert on document_purges to twoclocks_app;

-- The one door through which words leave: `purge_document` alone sets the mark, and the application's role is never let
-- through, whatever it sets.
do $$
declare
    t text;
    closed constant text := 'when (current_user = ''twoclocks_app'' or coalesce(current_setting(''twoclocks.purging'', true), '''') = '''')';
begin
    create or replace trigger missing_alone before update on documents for each row
        when (current_user = 'twoclocks_app' or coalesce(current_setting('twoclocks.purging', true), '') = '')
        execute function documents_change_missing_alone();
    create or replace trigger close_once before update on conflicts for each row
        when (current_user = 'twoclocks_app' or coalesce(current_setting('twoclocks.purging', true), '') = '')
        execute function conflicts_close_once();
    foreach t in array array['document_versions', 'chunks', 'assertions', 'facts', 'refusals'] loop
        execute format('create or replace trigger close_once before update on %I for each row %s execute function ledger_close_once()', t, closed);
    end loop;
    foreach t in array array['claims', 'extraction_drops', 'entities', 'mentions', 'refusal_restatements'] loop
        execute format('drop trigger no_change on %I', t);
        execute format('create trigger no_delete before delete on %I for each row execute function ledger_refuse()', t);
        execute format('create trigger no_update before update on %I for each row %s execute function ledger_refuse()', t, closed);
    end loop;
end $$;

-- Facts that a document's words stand in: those that rested on its statements alone while they were held, and closed
-- ones whose words or dates no statement of another source has. Statements that were purged have no words any more, so
-- that they speak for nothing here and below. Rows that were blanked before are left out.
create function facts_of_purged(base uuid, document uuid) returns table (id uuid, recorded_seq bigint)
language sql stable set search_path = pg_catalog, public, pg_temp as $$
    with mine as (
        select distinct v.lineage_id from assertions a
        join evidence v on v.kb_id = a.kb_id and v.assertion_id = a.id
        where a.kb_id = base and a.document_id = document
    ), others as (
        select v.lineage_id, v.recorded_seq, coalesce(v.invalidated_seq, 9223372036854775807) as until, a.phrase,
               a.value_raw, a.qualifiers, a.stated_from, a.stated_to, a.attested_at
        from mine m
        join evidence v on v.kb_id = base and v.lineage_id = m.lineage_id
        join assertions a on a.kb_id = v.kb_id and a.id = v.assertion_id
        where a.document_id is distinct from document
    )
    select f.id, f.recorded_seq
    from mine m
    join facts f on f.kb_id = base and f.lineage_id = m.lineage_id
    where f.invalidated_seq is not null and f.phrase <> '[purged]'
      and not exists (
          select from others o
          where o.lineage_id = f.lineage_id and o.recorded_seq < f.invalidated_seq and o.until > f.recorded_seq
            and o.phrase = f.phrase and o.value_raw is not distinct from f.value_raw
            and (f.qualifiers = '[]' or o.qualifiers = f.qualifiers)
            and (f.valid_from is null or o.stated_from = f.valid_from)
            and (f.valid_to is null or f.valid_to_origin = 'engine' or o.stated_to = f.valid_to)
            and (f.attested_from is null or o.attested_at <= f.attested_from))
$$;

-- Entities whose label no statement of another unpurged source has.
create function entities_of_purged(base uuid, document uuid) returns table (id uuid, recorded_seq bigint)
language sql stable set search_path = pg_catalog, public, pg_temp as $$
    select e.id, e.recorded_seq
    from (
        select a.subject_id as id from assertions a where a.kb_id = base and a.document_id = document
        union
        select a.object_id from assertions a where a.kb_id = base and a.document_id = document
        union
        select m.entity_id from chunks c
        join claims x on x.kb_id = c.kb_id and x.chunk_id = c.id
        join mentions m on m.kb_id = x.kb_id and m.claim_id = x.id
        where c.kb_id = base and c.document_id = document
    ) named
    join entities e on e.kb_id = base and e.id = named.id
    where e.label <> '[purged]'
      and not exists (
          select from assertions a
          where a.kb_id = base and a.subject_id = e.id and a.predicate_key = 'known_as' and a.value_norm = e.label_norm
            and a.document_id is distinct from document)
$$;

-- Refusals of what the document alone had stated or proposed, and no other unpurged source said again.
create function refusals_of_purged(base uuid, document uuid) returns table (id uuid, recorded_seq bigint)
language sql stable set search_path = pg_catalog, public, pg_temp as $$
    select r.id, r.recorded_seq from refusals r
    where r.kb_id = base and r.phrase <> '[purged]'
      and (exists (
               select from assertions a
               where a.kb_id = base and a.document_id = document and a.subject_id = r.subject_id and a.phrase = r.phrase
                 and a.value_norm is not distinct from r.value_norm and a.object_id is not distinct from r.object_id)
           or exists (
               select from verdicts v join pending_facts p on p.kb_id = v.kb_id and p.id = v.pending_id
               where v.kb_id = base and v.refusal_id = r.id and p.document_id = document)
           or exists (
               select from chunks c join claims x on x.kb_id = c.kb_id and x.chunk_id = c.id
               where c.kb_id = base and c.document_id = document and x.phrase = r.phrase
                 and (lower(x.value_raw) = r.value_norm
                      or r.value_norm = concat_ws(' ', trim_scale(x.value_number), x.value_unit))))
      and not exists (
          select from assertions a
          where a.kb_id = base and a.subject_id = r.subject_id and a.phrase = r.phrase
            and a.value_norm is not distinct from r.value_norm and a.object_id is not distinct from r.object_id
            and a.document_id is distinct from document)
      and not exists (
          select from refusal_restatements s
          where s.kb_id = base and s.refusal_id = r.id and s.document_id <> document
            and not exists (select from document_purges p where p.kb_id = base and p.document_id = s.document_id))
$$;

-- Erases the words of a document that was deleted, in the transaction that writes down its purge, and in no other: every
-- column that came from its bytes. Returns the events of the log that say them, which the purge has to name.
create function purge_document(base uuid, purge uuid)
returns table (place_table text, place_id uuid, place_seq bigint, place_ordinal integer)
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
    nothing constant bytea := sha256('');
    document uuid;
    versions uuid[];
    passages uuid[];
    said uuid[];
    stated uuid[];
    held_facts uuid[];
    named uuid[];
    refused uuid[];
    disputed uuid[];
begin
    select p.document_id into document from document_purges p
    where p.kb_id = base and p.id = purge and p.xmin = pg_current_xact_id()::xid;
    if document is null then
        raise exception 'nothing is erased without a purge in the same transaction' using errcode = 'insufficient_privilege';
    end if;
    if exists (select from document_versions v
               where v.kb_id = base and v.document_id = document and v.invalidated_seq is null)
       or exists (select from assertions a
                  where a.kb_id = base and a.document_id = document and a.invalidated_seq is null) then
        raise exception 'a document that is held cannot be purged' using errcode = 'insufficient_privilege';
    end if;
    select coalesce(array_agg(v.id), '{}') into versions from document_versions v
        where v.kb_id = base and v.document_id = document;
    select coalesce(array_agg(c.id), '{}') into passages from chunks c where c.kb_id = base and c.document_id = document;
    select coalesce(array_agg(x.id), '{}') into said from claims x where x.kb_id = base and x.chunk_id = any (passages);
    select coalesce(array_agg(a.id), '{}') into stated from assertions a where a.kb_id = base and a.document_id = document;
    select coalesce(array_agg(f.id), '{}') into held_facts from facts_of_purged(base, document) f;
    select coalesce(array_agg(e.id), '{}') into named from entities_of_purged(base, document) e;
    select coalesce(array_agg(r.id), '{}') into refused from refusals_of_purged(base, document) r;
    select coalesce(array_agg(k.id), '{}') into disputed from conflicts k
        where k.kb_id = base and (k.old_assertion_id = any (stated) or k.new_assertion_id = any (stated))
          and k.invalidated_seq is not null and k.phrase <> '[purged]';

    return query
        with blanked (tab, id, seq) as (
            select 'documents', d.id, d.recorded_seq from documents d where d.kb_id = base and d.id = document
            union all
            select 'document_versions', v.id, v.recorded_seq from document_versions v
            where v.kb_id = base and v.id = any (versions)
            union all
            select 'chunks', c.id, c.recorded_seq from chunks c where c.kb_id = base and c.id = any (passages)
            union all
            select 'assertions', a.id, a.recorded_seq from assertions a where a.kb_id = base and a.id = any (stated)
            union all
            select 'facts', f.id, f.recorded_seq from facts f where f.kb_id = base and f.id = any (held_facts)
            union all
            select 'entities', e.id, e.recorded_seq from entities e where e.kb_id = base and e.id = any (named)
            union all
            select 'refusals', r.id, r.recorded_seq from refusals r where r.kb_id = base and r.id = any (refused)
            union all
            select 'conflicts', k.id, k.recorded_seq from conflicts k where k.kb_id = base and k.id = any (disputed)
            union all
            select 'mentions', m.claim_id, m.recorded_seq from mentions m where m.kb_id = base and m.claim_id = any (said)
            union all
            select 'refusal_restatements', s.refusal_id, s.recorded_seq from refusal_restatements s
            where s.kb_id = base and s.document_id = document and s.source_key like 'name:%'
        ), said_of as materialized (
            -- Each payload is read once: a transaction may have written thousands of rows of a table.
            select l.seq, l.ordinal, substr(l.kind, 8) as tab, convert_from(l.payload, 'UTF8')::jsonb as row
            from ledger_log l
            where l.kb_id = base and l.payload is not null
              and l.seq in (select b.seq from blanked b) and l.kind in (select 'insert ' || b.tab from blanked b)
        ), named_rows as materialized (
            select s.seq, s.ordinal, s.tab,
                   case s.tab when 'mentions' then s.row ->> 'claim_id'
                              when 'refusal_restatements' then s.row ->> 'refusal_id' else s.row ->> 'id' end as id
            from said_of s
            where s.tab <> 'refusal_restatements'
               or s.row ->> 'document_id' = document::text and s.row ->> 'source_key' like 'name:%'
        )
        select distinct b.tab, b.id, n.seq, n.ordinal
        from blanked b join named_rows n on n.tab = b.tab and n.seq = b.seq and n.id = b.id::text;

    perform set_config('twoclocks.purging', purge::text, true);
    update documents d set external_id = 'purged:' || d.id where d.kb_id = base and d.id = document;
    insert into blobs (kb_id, sha256, content) values (base, nothing, '') on conflict do nothing;
    update document_versions v set filename = '[purged]', media_type = null, content_sha256 = nothing, doc_time = null,
           doc_time_precision = null, author = ''
    where v.kb_id = base and v.id = any (versions);
    delete from blobs b
    where b.kb_id = base and b.sha256 <> nothing
      and not exists (select from document_versions v where v.kb_id = base and v.content_sha256 = b.sha256);
    update parse_results p set title = '', media_type = '', doc_time = null, doc_time_precision = null,
           doc_time_source = null, failure = case when p.failure is not null then '[purged]' end
    where p.kb_id = base and p.version_id = any (versions);
    update chunks c set text = '[purged]', heading_path = '{}', anchor = '{}', cells = null
    where c.kb_id = base and c.id = any (passages);
    delete from embeddings e where e.kb_id = base and e.chunk_id = any (passages);
    update work w set failure = '[purged]'
    where w.kb_id = base and w.item_id = any (passages || versions) and w.failure is not null;
    update claims x set subject = '[purged]', subject_kind = null, phrase = '[purged]', wording = '', object = null,
           object_kind = null, value_raw = '[purged]', value_number = null, value_unit = null, value_type = 'text',
           qualifiers = '[]', quote = '[purged]', quote_start = 0, quote_end = 8, valid_from = null,
           valid_from_precision = null, valid_to = null, valid_to_precision = null, time_words = ''
    where x.kb_id = base and x.id = any (said);
    update extraction_drops x set detail = '', example = '' where x.kb_id = base and x.chunk_id = any (passages);
    update mentions m set surface = '[purged]' where m.kb_id = base and m.claim_id = any (said);
    update assertions a set source_key = case when a.source_key like 'name:%' then 'purged:' || a.id else a.source_key end,
           predicate_key = case when a.predicate_key = 'known_as' then a.predicate_key end, phrase = '[purged]',
           object_id = null, value_raw = '[purged]', value_norm = '[purged]',
           value_number = null, value_unit = null, value_type = 'text', qualifiers = '[]', stated_from = null,
           stated_from_precision = null, stated_to = null, stated_to_precision = null, attested_at = null, replaces = null,
           quote = '', quote_start = null, quote_end = null, wording = ''
    where a.kb_id = base and a.id = any (stated);
    update facts f set predicate_key = case when f.predicate_key = 'known_as' then f.predicate_key end, phrase = '[purged]',
           object_id = null, value_raw = '[purged]', value_norm = '[purged]', value_number = null, value_unit = null, value_type = 'text', qualifiers = '[]',
           valid_from = null, valid_from_precision = null, valid_to = null, valid_to_precision = null,
           valid_to_origin = null, attested_from = null, attested_to = null, holds_from = null, holds_to = null,
           undated = true
    where f.kb_id = base and f.id = any (held_facts);
    update entities e set label = '[purged]', label_norm = '[purged]' where e.kb_id = base and e.id = any (named);
    update refusals r set phrase = '[purged]', value_norm = case when r.value_norm is not null then '[purged]' end
    where r.kb_id = base and r.id = any (refused);
    update refusal_restatements s set source_key = 'purged:' || gen_random_uuid()
    where s.kb_id = base and s.document_id = document and s.source_key like 'name:%';
    update conflicts k set predicate_key = null, phrase = '[purged]', old_object_id = null, old_value_norm = '[purged]',
           old_said = '[purged]', new_object_id = null, new_value_norm = '[purged]', new_said = '[purged]'
    where k.kb_id = base and k.id = any (disputed);
    perform set_config('twoclocks.purging', '', true);
end $$;
revoke all on function purge_document(uuid, uuid) from public;
grant execute on function purge_document(uuid, uuid) to twoclocks_app;
