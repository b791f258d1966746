"""Stage: what the ontology needs beside its terms."""
