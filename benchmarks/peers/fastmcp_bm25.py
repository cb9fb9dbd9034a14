"""FastMCP's BM25SearchTransform over its own tool objects."""

REQUIREMENTS = ["fastmcp==4.2.3"]


def build(tools, embed):
    import asyncio

    from fastmcp.server.transforms.search import BM25SearchTransform
    from fastmcp.tools.base import Tool

    objects = [Tool(name=name, description=description, parameters=schema) for name, description, schema in tools]
    transform = BM25SearchTransform(max_results=10)

    def ask(query, k):
        found = asyncio.run(transform._search(objects, query))
        return [(tool.name, float(-rank)) for rank, tool in enumerate(found[:k])]

    ask("warm", 1)
    return ask
