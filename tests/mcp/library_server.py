"""A server with a resource, a template, a prompt and a tool that links to its resource, over standard input."""

from mcp.server.mcpserver import MCPServer
from mcp_types import ResourceLink

server = MCPServer("library")


@server.resource("book://today", description="The book of\u202e today")
def today() -> str:
    return "three entries"


@server.resource("book://day/{day}")
def of_day(day: str) -> str:
    return f"entries of {day}"


@server.prompt()
def close_day(day: str) -> str:
    """Close a day"""
    return f"Close the books of {day}"


@server.tool()
def book_of_today() -> list[ResourceLink]:
    """Where the book of today lies"""
    return [
        ResourceLink(uri="book://today", name="today"),
        ResourceLink(uri="https://example.com/book", name="elsewhere"),
    ]


server.run("stdio")
