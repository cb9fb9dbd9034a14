"""Ratel's hybrid (reciprocal rank fusion) with the shared encoder behind its endpoint option."""

REQUIREMENTS = ["ratel-ai==0.12.0"]


def build(tools, embed):
    import asyncio

    from ratel_bm25 import catalog

    found = catalog(tools, method="hybrid", embedding={"url": embed.url, "model": "builtin"})
    loop = asyncio.new_event_loop()
    return lambda query, k: [(hit.tool_id, hit.score) for hit in loop.run_until_complete(found.search_async(query, k))]
