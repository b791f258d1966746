-- name: context_named
-- The clusters that bear one of these names, whole, with the name asked for: by a name held then, or by the one they were
-- first met under; those with the longest name first.
select coalesce(c.canonical_id, n.id) as id, max(n.norm) as norm
from (
    select f.subject_id as id, f.value_norm as norm from facts f
    where f.kb_id = %(kb_id)s and f.predicate_key = 'known_as' and f.value_norm = any(%(norms)s) and [[held f]]
    union
    select e.id, e.label_norm from entities e
    where e.kb_id = %(kb_id)s and e.label_norm = any(%(norms)s) and [[recorded e]]
) n
left join entity_canonical c on c.kb_id = %(kb_id)s and c.entity_id = n.id and [[held c]]
group by 1
order by max(char_length(n.norm)) desc, 1
