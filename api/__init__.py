"""The serving side: REST, MCP and the command line, all thin over `substrate`."""
