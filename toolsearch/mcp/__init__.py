"""A gateway: one MCP server in front of many tools, which are searched for and called through it."""
