"""How an ontology of a thousand classes is planned, applied, exported, checked and searched."""
