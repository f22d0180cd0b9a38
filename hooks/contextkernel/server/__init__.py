"""The resident MCP server: the connection, its tools, and the processes that do their work."""
