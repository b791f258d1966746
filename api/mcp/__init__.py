"""MCP: one endpoint per base, on the official SDK."""
