-- name: budget_standing
-- Today's row of a base: its own limits if it has any, what it spent, and what calls under way have reserved.
select d.day, (d.day + 1)::timestamp at time zone 'UTC' as ends, b.number, b.tokens_per_day, b.cost_per_day,
       coalesce(s.answers, 0) as answers, coalesce(s.prompt_tokens, 0) as prompt_tokens,
       coalesce(s.completion_tokens, 0) as completion_tokens, coalesce(s.estimated_tokens, 0) as estimated_tokens,
       coalesce(s.cost, 0) as cost, s.paused_at, s.paused_by,
       coalesce(r.tokens, 0)::bigint as reserved_tokens, coalesce(r.cost, 0) as reserved_cost
from (select (clock_timestamp() at time zone 'UTC')::date as day) d
left join lateral (
    select number, tokens_per_day, cost_per_day from model_budgets
    where kb_id = %(kb_id)s order by number desc limit 1) b on true
left join model_spending s on s.kb_id = %(kb_id)s and s.day = d.day
left join lateral (
    select sum(tokens) as tokens, sum(cost) as cost from model_reservations
    where kb_id = %(kb_id)s and day = d.day and until > clock_timestamp()) r on true

-- name: budget_lock_day
-- The row of today, made if need be and locked until the transaction ends.
insert into model_spending (kb_id, day) values (%(kb_id)s, (clock_timestamp() at time zone 'UTC')::date)
on conflict (kb_id, day) do update set answers = model_spending.answers
returning day

-- name: budget_reserve
insert into model_reservations (kb_id, day, chunk_id, tokens, cost, until)
select %(kb_id)s, %(day)s, chunk_id, tokens, cost, clock_timestamp() + make_interval(secs => %(seconds)s)
from unnest(%(chunks)s::uuid[], %(tokens)s::bigint[], %(costs)s::numeric[]) as c (chunk_id, tokens, cost)
on conflict (kb_id, day, chunk_id) do update
set tokens = excluded.tokens, cost = excluded.cost, until = excluded.until

-- name: budget_pause
-- Since when it is paused stays; null and null lift it.
update model_spending set paused_by = %(paused_by)s::text,
       paused_at = case when %(paused_by)s::text is null then null else coalesce(paused_at, clock_timestamp()) end
where kb_id = %(kb_id)s and day = %(day)s

-- name: budget_free
-- Reservations of today and of yesterday, if calls went over midnight.
delete from model_reservations where kb_id = %(kb_id)s and chunk_id = any(%(chunks)s::uuid[])

-- name: budget_spend
update model_spending set answers = answers + %(answers)s, prompt_tokens = prompt_tokens + %(prompt_tokens)s,
       completion_tokens = completion_tokens + %(completion_tokens)s,
       estimated_tokens = estimated_tokens + %(estimated_tokens)s, cost = cost + %(cost)s
where kb_id = %(kb_id)s and day = %(day)s

-- name: budget_set
-- The next number of the base. Two at once meet in the primary key, and the later one fails.
insert into model_budgets (kb_id, number, tokens_per_day, cost_per_day, set_by, why)
select %(kb_id)s, coalesce(max(number), 0) + 1, %(tokens_per_day)s::bigint, %(cost_per_day)s::numeric, %(set_by)s, %(why)s
from model_budgets where kb_id = %(kb_id)s
