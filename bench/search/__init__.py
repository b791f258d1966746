"""How fast and how complete search is, at several sizes."""
