-- name: signin_begin
with old as (delete from signins where expires_at < clock_timestamp())
insert into signins (state_hash, browser_hash, nonce, verifier, next, expires_at)
values (%(state)s, %(browser)s, %(nonce)s, %(verifier)s, %(next)s,
        clock_timestamp() + make_interval(mins => %(minutes)s))

-- name: signin_take
-- Out it goes, so that of two who come with one state the second finds nothing. Another browser does not use it up.
delete from signins
where state_hash = %(state)s and browser_hash = %(browser)s and expires_at > clock_timestamp()
returning nonce, verifier, next

-- name: signin_person
-- Who has this identity; else the person of the address, unless the provider knows them as somebody else already.
select p.id, i.person_id is null as by_address
from people p left join identities i on i.person_id = p.id and i.issuer = %(issuer)s and i.subject = %(subject)s
where i.person_id is not null
   or lower(p.email) = lower(%(email)s)
      and not exists (select from identities o where o.person_id = p.id and o.issuer = %(issuer)s)
order by by_address, p.created_at, p.id limit 1

-- name: signin_know
insert into identities (issuer, subject, person_id) values (%(issuer)s, %(subject)s, %(person_id)s) on conflict do nothing
