"""How long an answer over MCP takes, beside a tool that does nothing."""
