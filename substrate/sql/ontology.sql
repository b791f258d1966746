-- name: relations_in_use
-- Which of these relations have live assertions.
select distinct predicate_key from assertions
where kb_id = %(kb_id)s and predicate_key = any(%(keys)s) and invalidated_seq is null
