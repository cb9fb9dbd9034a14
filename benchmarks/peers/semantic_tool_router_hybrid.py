"""semantic-tool-router's hybrid with the shared encoder."""

REQUIREMENTS = ["semantic-tool-router==0.3.0"]


class Provider:
    def __init__(self, embed, texts):
        self.embed_ = embed
        self.known = {}
        for start in range(0, len(texts), 256):
            chunk = texts[start : start + 256]
            self.known.update(zip(chunk, embed(chunk), strict=True))

    def embed(self, text):
        return self.known[text] if text in self.known else self.embed_([text])[0]


def build(tools, embed):
    from semantic_tool_router import ToolRegistry, ToolRouter, ToolSpec

    specs = [ToolSpec(name=n, description=d or n, input_schema=s.get("properties", {})) for n, d, s in tools]
    provider = Provider(embed, [spec.searchable_text("full") for spec in specs])
    router = ToolRouter(ToolRegistry(specs), provider)
    return lambda query, k: [(hit.tool.name, hit.score) for hit in router.discover(query, top_k=k)]
