"""Finding passages: embedders, the lexical index, fusion and ranking."""
