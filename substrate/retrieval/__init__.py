"""Finding passages: embedders, the lexical index, the arms and their ranking."""
