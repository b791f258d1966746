-- name: dagster_database
-- Is there a database of that name on the server?
select 1 as found from pg_database where datname = %(name)s
