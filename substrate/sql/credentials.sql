-- name: credential_set
insert into credentials (kb_id, name, key_id, sealed, set_by) values (%(kb_id)s, %(name)s, %(key_id)s, %(sealed)s, %(by)s)
on conflict (kb_id, name) do update
set key_id = excluded.key_id, sealed = excluded.sealed, set_by = excluded.set_by, set_at = clock_timestamp()

-- name: credential
select key_id, sealed from credentials where kb_id = %(kb_id)s and name = %(name)s

-- name: credentials
select name, key_id, set_by, set_at from credentials where kb_id = %(kb_id)s order by name

-- name: credential_remove
delete from credentials where kb_id = %(kb_id)s and name = %(name)s returning name

-- name: credentials_to_rotate
select name, key_id, sealed, set_by from credentials
where kb_id = %(kb_id)s and key_id <> %(key_id)s order by name for update

-- name: credential_keys
select distinct key_id from credentials
