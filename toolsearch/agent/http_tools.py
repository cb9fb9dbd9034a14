"""Runs operations of OpenAPI documents over HTTP: only to allowed hosts, bounded in time and size."""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast
from urllib.parse import quote, unquote, urlencode, urlsplit

import httpx2

from toolsearch.conversation import Media, Text
from toolsearch.errors import InvalidInput, ToolArgumentsError, ToolErrorForModel
from toolsearch.tool import Executor, Json, ToolSpec

SCHEME: Final = "openapi:"
_SECRET: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_SLASH: Final = re.compile(r"[/\\]")
_HEADERS: Final = frozenset({"authorization", "cookie", "host", "content-length", "transfer-encoding", "connection"})
"""Headers that a model never sets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HTTPTools:
    """The executor of OpenAPI tools: `index.bind({id: http})`, or `(spec, http.for_tool(spec))` in an agent's tools.

    Attributes:
        base: address of the service, by the namespace of its tools.
        hosts: hosts that may be called; by default those of the addresses. Redirects are not followed.
        headers: sent with every call, by namespace; `${NAME}` is taken from the environment when the call is made.
        seconds: time for one call.
        bytes: longest answer that is read; more is an error.

    Raises:
        InvalidInput: an address is not http(s), or its host is not among the allowed ones.
    """

    base: Mapping[str, str]
    hosts: Collection[str] | None = None
    headers: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]], repr=False)
    seconds: float = 30.0
    bytes: int = 10_000_000

    def __post_init__(self) -> None:
        for name, address in self.base.items():
            parts = urlsplit(address)
            if parts.scheme not in ("http", "https") or not parts.hostname:
                raise InvalidInput(
                    f"the address of {name!r:.80} must begin with http:// or https://, not {address[:80]!r}"
                )
            if self.hosts is not None and parts.hostname not in self.hosts:
                raise InvalidInput(f"the host {parts.hostname[:80]!r} of {name!r:.80} is not among the allowed ones")

    def unset(self) -> list[str]:
        """Variables that headers name and the environment does not have now."""
        values = [value for headers in self.headers.values() for value in headers.values()]
        names = [name for value in values for name in _SECRET.findall(value)]
        return [name for name in dict.fromkeys(names) if name not in os.environ]

    def for_tool(self, spec: ToolSpec) -> Executor:
        """What runs one tool.

        Raises:
            InvalidInput: it is no OpenAPI tool, or its namespace has no address.
        """
        if "openapi" not in spec.metadata:
            raise InvalidInput(f"tool {spec.id[:120]!r} does not come from an OpenAPI document")
        if spec.namespace not in self.base:
            raise InvalidInput(f"there is no address for the namespace {spec.namespace[:80]!r}")
        return _Operation(self, spec)


@dataclass(frozen=True, slots=True)
class _Operation:
    service: HTTPTools
    spec: ToolSpec

    async def __call__(self, arguments: Json, context: Any = None) -> Any:
        """The body of the answer: JSON as a value, text, or an image."""
        request = self._request(arguments)
        service = self.service
        async with httpx2.AsyncClient(timeout=service.seconds, follow_redirects=False, trust_env=False) as client:
            try:
                async with client.stream(**request) as response:
                    body = await self._read(response)
            except httpx2.TimeoutException as error:
                raise ToolErrorForModel(f"The service did not answer within {service.seconds:g} seconds.") from error
            except httpx2.HTTPError as error:
                raise ToolErrorForModel("The service cannot be reached now.") from error
        return _value(response, body)

    async def _read(self, response: Any) -> bytes:
        found = bytearray()
        async for piece in response.aiter_bytes():
            found += piece
            if len(found) > self.service.bytes:
                raise ToolErrorForModel(f"The answer is longer than {self.service.bytes} bytes.")
        return bytes(found)

    def _request(self, arguments: Json) -> Json:
        placed: Json = self.spec.metadata["openapi"]
        parts: dict[str, Json] = {"path": {}, "query": {}, "header": {}, "body": {}}
        whole: Any = None
        for name, value in arguments.items():
            where = placed.get("arguments", {}).get(name)
            if where is None:
                raise ToolArgumentsError(f"tool {self.spec.name[:80]!r} has no parameter {name!r:.80}")
            if where.get("whole"):
                whole = value
            else:
                parts.setdefault(where["in"], {})[where["name"]] = value
        request: Json = {
            "method": str(placed["method"]).upper(),
            "url": _address(
                self.service.base[self.spec.namespace], _filled(placed["path"], parts["path"]), parts["query"]
            ),
            "headers": {**_headers(parts["header"]), **self._own_headers()},
        }
        body: Any = whole if whole is not None else parts["body"] or None
        if body is not None:
            form = "form" in str(placed.get("content", "")) and isinstance(body, dict)
            request["data" if form else "json"] = _asked(cast(Json, body)) if form else body
        return request

    def _own_headers(self) -> dict[str, str]:
        own = self.service.headers.get(self.spec.namespace, {})
        return {key: _SECRET.sub(_variable, value) for key, value in own.items()}


def _variable(found: re.Match[str]) -> str:
    value = os.environ.get(found[1])
    if value is None:
        raise ToolErrorForModel("The service needs a key that is not set here.")
    return value


def _address(base: str, path: str, query: Mapping[str, Any]) -> str:
    """The whole address. What base and path ask for themselves stays, and an argument that is null asks nothing."""
    place, _, fixed = base.partition("?")
    path, _, more = path.partition("?")
    asked = "&".join(part for part in (fixed, more, urlencode(_asked(query), doseq=True)) if part)
    return place.rstrip("/") + path + (f"?{asked}" if asked else "")


def _asked(values: Mapping[str, Any]) -> Json:
    """Arguments as a query or a form has them; null is what was left out."""
    return {name: _listed(value) for name, value in values.items() if value is not None}


def _filled(path: str, values: Mapping[str, Any]) -> str:
    """A path with its parameters, which hold no slash or query of their own; nothing in it leads out of the base."""
    for name, value in values.items():
        text = quote(_plain(value), safe="")
        if value is None or text in ("", ".", ".."):
            raise ToolArgumentsError(f"parameter {name!r:.80} may not be {text!r}")
        path = path.replace("{" + name + "}", text)
    if "{" in path:
        raise ToolArgumentsError(f"the path {path[:120]!r} still has an open parameter")
    if not {".", ".."}.isdisjoint(_SLASH.split(unquote(re.split("[?#]", path)[0]))):
        raise ToolArgumentsError(f"the path {path[:120]!r} may not have '.' or '..' between slashes")
    return path if path.startswith("/") else "/" + path


def _headers(values: Mapping[str, Any]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in values.items():
        text = _plain(value)
        if name.lower() in _HEADERS or not text.isascii() or not text.isprintable():
            raise ToolArgumentsError(f"the header {name[:80]!r} cannot be set this way")
        found[name] = text
    return found


def _plain(value: Any) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def _value(response: Any, body: bytes) -> Any:
    kind = str(response.headers.get("content-type", "")).partition(";")[0].strip().lower()
    text = body.decode("utf-8", "replace")
    if response.status_code >= 300:
        raise ToolErrorForModel(f"The service answered with status {response.status_code}: {text[:1_000]}")
    if kind.startswith("image/"):
        return Media(media_type=kind, data=base64.b64encode(body).decode("ascii"))
    return Text(text)


def _listed(value: Any) -> Any:
    """A list is sent as one key several times."""
    return list(map(_plain, cast("list[Any]", value))) if isinstance(value, list) else _plain(value)
