"""For those who test what they build on toolsearch: stand-ins that need no network and no model.

One tool. It is called as the host would call it, with the arguments that a model writes:

    >>> from toolsearch import tool
    >>> from toolsearch.catalog.functions import as_tool
    >>> @tool
    ... def refund(order: int, reason: str = "damaged") -> str:
    ...     "Give the money of an order back."
    ...     return f"refunded {order}: {reason}"
    >>> as_tool(refund).execute({"order": "42"})
    'refunded 42: damaged'

A loop. The model answers from a script, and refuses what a provider would refuse:

    >>> from toolsearch import Agent, SimpleStrategy
    >>> from toolsearch.testing.models import ScriptedModel, call
    >>> model = ScriptedModel(call("tool_search_tool", terms=["refund"]), call("refund", order=42), "Done.")
    >>> result = Agent(model, tools=[refund], search=SimpleStrategy()).run_sync("Refund order 42")
    >>> [one.result.text for one in result.tool_executions]
    ['Tools found: refund', 'refunded 42: damaged']
    >>> model.names(0), model.names(1)
    (['tool_search_tool'], ['tool_search_tool', 'refund'])

End to end, with a memory and an index. A second run starts with what the first one found:

    >>> from toolsearch import ChatMemory, ToolIndex
    >>> index = ToolIndex.from_tools([refund], encoder=None)
    >>> model = ScriptedModel(call("tool_search_tool", query="give money back"), "Found it.", "Hello again.")
    >>> agent = Agent(model, tools=[index], search="hybrid", memory=ChatMemory(max_messages=30))
    >>> agent.run_sync("What can you do?").content
    'Found it.'
    >>> agent.run_sync("Hi").visible_tools
    ('tool_search_tool', 'refund')

`toolsearch.testing.contracts` holds suites for your own chat models and conversation stores.
"""
