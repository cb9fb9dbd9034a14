"""Ratel's default: BM25 in its compiled core."""

REQUIREMENTS = ["ratel-ai==0.12.0"]


def catalog(tools, **options):
    import asyncio

    from ratel_ai import ExecutableTool, ToolCatalog

    found = ToolCatalog(**options)

    async def fill():
        await found.register(
            [
                ExecutableTool(
                    id=name,
                    name=name,
                    description=description,
                    input_schema=schema,
                    output_schema={"type": "object"},
                    execute=lambda arguments: {},
                )
                for name, description, schema in tools
            ]
        )

    asyncio.run(fill())
    return found


def build(tools, embed):
    found = catalog(tools)
    return lambda query, k: [(hit.tool_id, hit.score) for hit in found.search(query, k)]
