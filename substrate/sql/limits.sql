-- name: limits_take
-- How many calls were granted of `wanted`; none: seconds until there will be one.
select granted, wait_s from take_calls(%(bucket)s, %(per_second)s, %(burst)s, %(daily)s, %(wanted)s, %(back)s)
