"""As-of reads shared by MCP, REST, the console, the command line and asset checks."""
