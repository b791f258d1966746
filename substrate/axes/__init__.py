"""The two clocks. Each has one module that is the only spelling of its predicate; `as_of` pairs them."""
