"""The HTTP service: search, catalog and operation over REST, with the page and the MCP gateway beside it."""
