"""The gateway as a server of the SDK, for any transport and both eras of the protocol."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from mcp import MCPError
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    GetPromptRequestParams,
    GetPromptResult,
    InputRequiredResult,
    ListToolsResult,
    NotificationParams,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
)

from toolsearch.errors import InvalidInput
from toolsearch.mcp.answering import Answers
from toolsearch.mcp.asking import Conversations
from toolsearch.mcp.calling import OWNER, Caller
from toolsearch.mcp.gateway import Gateway
from toolsearch.mcp.listing import ToolList
from toolsearch.mcp.news import News
from toolsearch.mcp.passing import Passing

Who = Callable[[Any], Caller]
"""Who sent a message, by the HTTP request it came in; None on stdio."""
INSTRUCTIONS = "Search for tools with search_tools, then run them with call_tool."


def _owner(request: Any) -> Caller:
    del request
    return OWNER


class GatewayServer:
    """Serves one gateway; `who` tells the caller of each message, by default the trusted owner.

    `alone` says that every message of a client comes to this process.
    """

    def __init__(self, gateway: Gateway, who: Who | None = None, *, alone: bool = True) -> None:
        from toolsearch import __version__

        self.gateway = gateway
        self._who: Who = who or _owner
        self._list, self._answers, self._asking = ToolList(gateway), Answers(gateway), Conversations(alone=alone)
        self.news = News(gateway.index, self._list)
        self.server: Server[Any] = Server(
            "toolsearch",
            version=__version__,
            instructions=INSTRUCTIONS if gateway.options.mode == "proxy" else None,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_subscriptions_listen=self._listen if self._list.changes else None,
        )
        if gateway.servers:
            self._pass_on(Passing(gateway))
        if self._list.changes:
            self.server.add_notification_handler("notifications/initialized", NotificationParams, self._initialized)

    @property
    def options(self) -> InitializationOptions:
        """What the server says of itself to clients of the older era."""
        return self.server.create_initialization_options(NotificationOptions(tools_changed=self._list.changes))

    def _pass_on(self, passing: Passing) -> None:
        """Offer the resources and prompts of the servers behind; without servers the gateway says that it has none."""

        def listing(page: Callable[[Caller, str | None], Awaitable[Any]]) -> Callable[[Any, Any], Awaitable[Any]]:
            return lambda context, params: page(self._who(context.request), params.cursor if params else None)

        async def read(context: Any, params: ReadResourceRequestParams) -> ReadResourceResult:
            return await passing.read(self._who(context.request), str(params.uri))

        async def prompt(context: Any, params: GetPromptRequestParams) -> GetPromptResult:
            return await passing.prompt(self._who(context.request), params.name, params.arguments)

        add = self.server.add_request_handler
        add("resources/list", PaginatedRequestParams, listing(passing.resources))
        add("resources/templates/list", PaginatedRequestParams, listing(passing.templates))
        add("resources/read", ReadResourceRequestParams, read)
        add("prompts/list", PaginatedRequestParams, listing(passing.prompts))
        add("prompts/get", GetPromptRequestParams, prompt)

    async def _list_tools(self, context: Any, params: PaginatedRequestParams | None) -> ListToolsResult:
        try:
            tools, cursor = await self._list.page(self._who(context.request), params.cursor if params else None)
        except InvalidInput as error:
            raise MCPError(INVALID_PARAMS, str(error)) from None
        return ListToolsResult(tools=tools, next_cursor=cursor)

    async def _call_tool(self, context: Any, params: CallToolRequestParams) -> CallToolResult | InputRequiredResult:
        caller = self._who(context.request)
        if params.request_state is not None:
            return await self._asking.resume(context, caller.name, params.request_state, params.input_responses)
        answer = partial(self._answers.answer, params.name, dict(params.arguments or {}), caller)
        return await self._asking.run(context, caller.name, answer)

    async def _listen(self, context: Any, params: SubscriptionsListenRequestParams) -> SubscriptionsListenResult:
        handler = await asyncio.to_thread(self.news.handler, self._who(context.request))
        return await handler(context, params)

    async def _initialized(self, context: Any, params: NotificationParams) -> None:
        del params
        await self.news.follow(context.session, self._who(context.request))
