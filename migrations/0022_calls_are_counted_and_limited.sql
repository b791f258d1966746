-- How many calls a token or an address has left, for all processes that serve together. Outside the ledger: nothing that
-- is believed hangs on it. It belongs to no base.
set local lock_timeout = '10s';

create table call_allowances (
    bucket       text primary key check (bucket <> ''),            -- token:… or address:…
    calls        double precision not null check (calls >= 0),     -- left of the burst at refilled_at
    refilled_at  timestamptz not null,
    day          date not null,                                    -- UTC
    today        bigint not null check (today >= 0)                -- taken on that day
);
create index call_allowances_by_age on call_allowances (refilled_at);
grant select, insert, update, delete on call_allowances to twoclocks_app;

-- Takes up to `wanted` calls at once, after giving `back` what an earlier taking left unused; a null limit is none.
-- Where nothing is granted `wait_s` says when something will be. Two that take together wait for one another's row.
create function take_calls(whose text, per_second double precision, burst double precision, daily bigint,
                           wanted integer, back integer)
returns table (granted integer, wait_s double precision)
language plpgsql volatile set search_path = pg_catalog, public, pg_temp as $$
declare
    had call_allowances;
    moment timestamptz;
    today_is date;
    available double precision;
    spent bigint;
begin
    perform set_config('synchronous_commit', 'off', true);         -- a crash may give a second's calls twice
    insert into call_allowances values (whose, coalesce(burst, 0), clock_timestamp(), current_date, 0)
    on conflict (bucket) do nothing;
    select * into had from call_allowances where bucket = whose for update;
    moment := greatest(clock_timestamp(), had.refilled_at);        -- a clock that steps back refills nothing twice
    today_is := (moment at time zone 'UTC')::date;
    spent := case when had.day = today_is then greatest(had.today - back, 0) else 0 end;
    available := case when per_second is null then 'infinity'
                      else least(burst, had.calls + back + per_second * extract(epoch from moment - had.refilled_at)) end;
    granted := floor(least(available, wanted, coalesce(daily - spent, wanted)));
    granted := greatest(granted, 0);
    wait_s := case when granted > 0 then 0
                   when daily <= spent then extract(epoch from (today_is + 1)::timestamp at time zone 'UTC' - moment)
                   else (1 - available) / per_second end;
    update call_allowances
    set calls = case when per_second is null then 0 else available - granted end,
        refilled_at = moment, day = today_is, today = spent + granted
    where bucket = whose;
    if random() < 0.001 then
        delete from call_allowances a using (select bucket from call_allowances
            where refilled_at < moment - interval '2 days' limit 1000 for update skip locked) old
        where a.bucket = old.bucket;
    end if;
    return next;
end $$;
revoke all on function take_calls from public;
grant execute on function take_calls to twoclocks_app;
