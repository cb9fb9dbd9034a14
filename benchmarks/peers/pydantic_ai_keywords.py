"""pydantic-ai's keyword search, the default of its ToolSearch."""

REQUIREMENTS = ["pydantic-ai-slim==2.68.0"]


def build(tools, embed):
    from pydantic_ai.tools import ToolDefinition
    from pydantic_ai.toolsets._tool_search import keywords_search_fn

    definitions = [
        ToolDefinition(name=name, description=description, parameters_json_schema=schema)
        for name, description, schema in tools
    ]

    def ask(query, k):
        return [(name, float(-rank)) for rank, name in enumerate(keywords_search_fn(None, [query], definitions)[:k])]

    return ask
