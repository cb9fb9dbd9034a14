"""What a tool returned, as MCP content; and answers of the gateway itself."""

from __future__ import annotations

import json
from typing import Any, Final, cast
from urllib.parse import quote

from mcp_types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
)

from toolsearch.agent.results import ToolReturn, content_of
from toolsearch.conversation import Media, Part, Text
from toolsearch.tool import Json, ToolSpec

WRAPPED: Final = "result"
"""Key under which a value that is no object stands in structured content."""
PROTOCOL: Final = "io.modelcontextprotocol/"
"""Beginning of keys that the two ends of one connection use."""


def failed(text: str) -> CallToolResult:
    """An answer that says why a call failed."""
    return CallToolResult(content=[TextContent(text=text)], is_error=True)


def answered(body: Json) -> CallToolResult:
    """An object as structured content, and the same as JSON text."""
    return CallToolResult(
        content=[TextContent(text=json.dumps(body, ensure_ascii=False, separators=(",", ":")))],
        structured_content=body,
    )


def result_of(value: Any, spec: ToolSpec) -> CallToolResult:
    """What an executor returned; structured where the tool has an output schema, or the value is an object.

    Raises:
        ToolErrorForModel: the value is neither content nor JSON.
    """
    given = value if isinstance(value, ToolReturn) else ToolReturn(value)
    parts = content_of(given.content)
    return CallToolResult(
        content=[block for part in parts if (block := _block(part)) is not None],
        structured_content=_structured(given.content, parts, spec),
        is_error=given.is_error,
    )


def takes_objects_only(schema: Json | None) -> Json | None:
    """An output schema as all versions of the protocol take it: that of an object, which may hold one result."""
    if schema is None or schema.get("type") == "object":
        return schema
    return {"type": "object", "properties": {WRAPPED: schema}, "required": [WRAPPED]}


def fitting(result: CallToolResult, server: str) -> CallToolResult:
    """A server's answer as ours: structured content as its schema is shown, without what the server says of itself.

    Links to its resources are those by which we read them.
    """
    content: object = result.structured_content
    meta = {key: value for key, value in (result.meta or {}).items() if not key.startswith(PROTOCOL)}
    return result.model_copy(
        update={
            "content": [_linked(block, server) for block in result.content],
            "structured_content": content if content is None or isinstance(content, dict) else {WRAPPED: content},
            "meta": meta or None,
        }
    )


def own_uri(server: str, uri: str) -> str:
    """The address of a server's resource here."""
    return f"mcp://{quote(server, safe='')}/{uri}"


def _linked(block: ContentBlock, server: str) -> ContentBlock:
    """The block; a link to the web stays as it is."""
    if not isinstance(block, ResourceLink) or str(block.uri).startswith(("http://", "https://")):
        return block
    return block.model_copy(update={"uri": own_uri(server, str(block.uri))})


def _structured(value: Any, parts: tuple[Part, ...], spec: ToolSpec) -> Json | None:
    if len(parts) != 1 or not isinstance(parts[0], Text) or isinstance(value, Text):
        return None
    plain: object = value if isinstance(value, str) or value is None else json.loads(parts[0].text)
    if isinstance(plain, dict):
        return cast(Json, plain)
    return None if spec.output_schema is None else {WRAPPED: plain}


def _block(part: Part) -> ContentBlock | None:
    if isinstance(part, Text):
        return TextContent(text=part.text)
    if not isinstance(part, Media):
        return None
    if not part.data:
        return ResourceLink(uri=part.uri, name=part.name or part.uri, mime_type=part.media_type)
    if part.kind == "image":
        return ImageContent(data=part.data, mime_type=part.media_type)
    if part.kind == "audio":
        return AudioContent(data=part.data, mime_type=part.media_type)
    uri = part.uri or f"resource:///{part.name or 'content'}"
    return EmbeddedResource(resource=BlobResourceContents(uri=uri, blob=part.data, mime_type=part.media_type))
