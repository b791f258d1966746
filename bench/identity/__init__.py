"""Who is who in 414 labelled pairs, by the whole real path and in ten orders of the documents."""
