"""How fast passages become claims: without a model by the processor, with one by its endpoint."""
