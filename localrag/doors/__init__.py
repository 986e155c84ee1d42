"""The ways in: command line, HTTP, MCP, Python."""
