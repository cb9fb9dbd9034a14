"""LangGraph's InMemoryStore as langgraph-bigtool fills it, with the shared encoder."""

REQUIREMENTS = ["langgraph==1.2.24", "numpy==2.4.6"]


def build(tools, embed):
    from langgraph.store.base import PutOp
    from langgraph.store.memory import InMemoryStore

    store = InMemoryStore(index={"embed": embed, "dims": 448, "fields": ["description"]})
    puts = [PutOp(("tools",), name, {"description": f"{name}: {text}"}) for name, text, _ in tools]
    for start in range(0, len(puts), 256):
        store.batch(puts[start : start + 256])
    return lambda query, k: [(item.key, item.score) for item in store.search(("tools",), query=query, limit=k)]
