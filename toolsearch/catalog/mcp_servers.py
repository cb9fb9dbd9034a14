"""Files that list MCP servers: `mcpServers` as most clients write it, `servers` as VS Code does.

Such a file names commands to run and addresses to call: use only files that you trust. `${NAME}`, `${NAME:-other}`
and `${env:NAME}` stand for variables of the environment.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, cast

from toolsearch.catalog.loaded import as_object
from toolsearch.errors import InvalidSource
from toolsearch.tool import Json

if TYPE_CHECKING:
    from httpx2 import AsyncClient

MAX_SERVERS: Final = 1000
MAX_TEXT: Final = 10_000
"""Characters of one command, argument, address or value."""
TRANSPORTS: Final = {
    "stdio": "stdio", "http": "http", "streamable-http": "http", "streamablehttp": "http", "streamable_http": "http",
    "sse": "sse",
}  # fmt: skip
"""What files call the ways to reach a server -> what we call them."""
_VARIABLE: Final = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_ASKED: Final = re.compile(r"\$\{[a-zA-Z]+(?::[^}]*)?\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuth:
    """How to get tokens for a server: with a client's secret from `issuer`, or by signing in, which ends at `port`."""

    client_id: str = ""
    client_secret: str = field(default="", repr=False)
    scope: str = ""
    issuer: str = ""
    port: int = 8976


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """How to reach one server: `command` with `args`, `env` and `cwd` over stdio, or `url` with `headers`.

    `client` makes the HTTP client to use, such as one that keeps away from inner networks. `sign_in` shows somebody the
    address of a sign-in page; without it nobody is asked. `answers` are callbacks of the SDK's client, by name of its
    argument, for what the server asks in the middle of a call.
    """

    name: str
    transport: str
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    cwd: str | None = None
    url: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    client: Callable[[], AsyncClient] | None = field(default=None, repr=False, compare=False)
    oauth: OAuth | None = None
    sign_in: Callable[[str], Any] | None = field(default=None, repr=False, compare=False)
    answers: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False, compare=False)


def servers_of(document: object, where: str = "servers") -> tuple[list[Server], list[tuple[str, str]]]:
    """The servers of a document that are not disabled, and name and reason of each broken entry.

    Raises:
        InvalidSource: it is no such document.
    """
    body = as_object(document, where)
    listed: object = body.get("mcpServers", body.get("servers"))
    if not isinstance(listed, dict):
        raise InvalidSource(f"{where}: mcpServers must map names to servers, not {listed!r:.60}")
    entries = cast(Json, listed)
    if len(entries) > MAX_SERVERS:
        raise InvalidSource(f"{where} lists {len(entries)} servers; the bound is {MAX_SERVERS}")
    good: list[Server] = []
    bad: list[tuple[str, str]] = []
    for name, entry in entries.items():
        try:
            server = _server(name, as_object(entry, name))
        except (InvalidSource, ValueError) as error:
            bad.append((name, str(error)))
            continue
        if server is not None:
            good.append(server)
    return good, bad


def _server(name: str, entry: Mapping[str, Any]) -> Server | None:
    if entry.get("disabled") is True or entry.get("enabled") is False:
        return None
    said = entry.get("type", entry.get("transport", "stdio" if "command" in entry else "http"))
    transport = TRANSPORTS.get(said.lower()) if isinstance(said, str) else None
    if transport is None:
        raise InvalidSource(f"type must be one of {', '.join(TRANSPORTS)}, not {said!r:.60}")
    if not entry.keys() & {"command", "url"}:
        given = ", ".join(map(repr, list(entry)[:8]))[:200] or "nothing"
        raise InvalidSource(f"an entry needs command (with args, env, cwd) or url (with headers), and has {given}")
    cwd = entry.get("cwd")
    args: object = entry.get("args", [])
    if not isinstance(args, list):
        raise InvalidSource(f"args must be a list of texts, not {args!r:.60}")
    if transport != "stdio":
        url = _text(entry.get("url"), "url")
        if not re.match(r"https?://[^/\s]", url):
            raise InvalidSource("url must begin with http:// or https:// and name a host")
        headers = _texts(entry.get("headers"), "headers")
        return Server(name=name, transport=transport, url=url, headers=headers, oauth=_oauth(entry))
    return Server(
        name=name,
        transport=transport,
        command=_text(entry.get("command"), "command"),
        args=tuple(_text(one, "an argument", empty=True) for one in cast("list[object]", args)),
        env=_texts(entry.get("env"), "env"),
        cwd=None if cwd is None else _text(cwd, "cwd"),
    )


def _oauth(entry: Mapping[str, Any]) -> OAuth | None:
    """What `"auth": "oauth"`, or `oauth` with more, says."""
    if "oauth" not in entry:
        return OAuth() if entry.get("auth") == "oauth" else None
    said = as_object(entry["oauth"], "oauth")
    scopes: object = said.get("scopes", said.get("scope", ""))
    listed = " ".join(map(str, cast("list[object]", scopes))) if isinstance(scopes, list) else scopes
    port: object = said.get("callbackPort", 8976)
    if not isinstance(port, int) or not 1 <= port <= 65_535:
        raise InvalidSource(f"callbackPort must be a port, not {port!r:.60}")
    names = {"client_id": "clientId", "client_secret": "clientSecret", "issuer": "issuer"}
    texts = {key: _text(said.get(name, ""), f"oauth {name}", empty=True) for key, name in names.items()}
    if texts["client_secret"] and not (texts["client_id"] and texts["issuer"]):
        raise InvalidSource("oauth with a clientSecret needs clientId and issuer, so that only the issuer sees it")
    return OAuth(scope=_text(listed, "oauth scopes", empty=True), port=port, **texts)


def _texts(value: object, what: str) -> dict[str, str]:
    if value is None:
        return {}
    return {
        key: _text(str(one) if isinstance(one, int | float) else one, f"{what} {key[:60]!r}", empty=True)
        for key, one in as_object(value, what).items()
    }


def _text(value: object, what: str, *, empty: bool = False) -> str:
    if not isinstance(value, str) or len(value) > MAX_TEXT or "\0" in value or not (value.strip() or empty):
        raise InvalidSource(f"{what} must be a text of at most {MAX_TEXT} characters, not {value!r:.60}")
    return _expanded(value)


def _expanded(text: str) -> str:
    def value(found: re.Match[str]) -> str:
        name, other = found[1], found[2]
        if name in os.environ:
            return os.environ[name]
        if other is None:
            raise InvalidSource(f"the environment variable {name[:80]!r} is not set")
        return other

    for asked in _ASKED.findall(_VARIABLE.sub("", text)):
        raise InvalidSource(
            f"{asked[:80]!r} is only known to the editor; write the value, or ${{NAME}} of the environment"
        )
    return _VARIABLE.sub(value, text)
