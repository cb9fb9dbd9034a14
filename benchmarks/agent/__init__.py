"""The agent's bill: what whole conversations over a catalog cost, by the way in which tools are shown.

A scripted model stands in for a real one. It searches with the words of judged requests and calls the tools that are
right for them when it can see them, so a conversation depends on the host and on search alone.
"""
