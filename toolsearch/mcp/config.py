"""What stands behind a gateway: a file of MCP servers as clients have it, with a part of its own.

    {"mcpServers": {"git": {"command": "mcp-server-git", "toolsearch": {"groups": ["dev"], "seconds": 60}}},
     "toolsearch": {"mode": "proxy", "pinned": ["git/git_status"], "python": ["tools.py"],
                    "openapi": {"shop": {"file": "shop.yaml", "base": "https://shop.example",
                                         "headers": {"Authorization": "Bearer ${SHOP_KEY}"}}}}}

The file names commands to run and addresses to call: use only what you trust. Paths are relative to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar, cast, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from toolsearch.catalog.documents import parsed
from toolsearch.catalog.loaded import Problem, as_object
from toolsearch.catalog.mcp_servers import Server, servers_of
from toolsearch.errors import InvalidSource

PART: Final = "toolsearch"
"""Key of our own part, in the file and in the entry of a server."""
Seconds = Annotated[float, Field(gt=0, le=86_400)]
Shape = TypeVar("Shape", bound=BaseModel)


class _Closed(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Credentials(_Closed):
    """What one caller's key brings along to a server, on top of what its entry says."""

    headers: dict[str, str] = Field(default_factory=dict, repr=False)
    env: dict[str, str] = Field(default_factory=dict, repr=False)


class ServerPart(_Closed):
    """Our part of a server's entry: `groups` that may see its tools, time for a call, credentials by name of key."""

    groups: tuple[str, ...] = ()
    seconds: Seconds = 300.0
    keys: dict[str, Credentials] = Field(default_factory=dict, repr=False)


class OpenAPI(_Closed):
    """An OpenAPI document whose operations are called at `base`, by default where its first server is."""

    file: str
    base: str = ""
    headers: dict[str, str] = Field(default_factory=dict, repr=False)
    hosts: tuple[str, ...] | None = None
    groups: tuple[str, ...] = ()
    seconds: Seconds = 30.0


class IssuerPart(_Closed):
    """An OpenID Connect issuer whose tokens are taken over HTTP, the audience they must name, their claim of groups."""

    url: str
    audience: str
    groups: str = "groups"


class Options(_Closed):
    """How the gateway behaves.

    `pinned` tools, by id, are listed beside the search. `max_tools` bounds the list in passthrough mode, 0 is no
    bound. `changes` says what becomes of a known tool whose definition changed: told, or held back until approved.
    `poll` and `start` are seconds: between two listings, and to wait for servers at the start. `results` tools are
    found at most, in `budget` tokens; descriptions in results have at most `description` characters.
    """

    mode: Literal["proxy", "passthrough"] = "proxy"
    pinned: tuple[str, ...] = ()
    max_tools: int = Field(default=0, ge=0)
    changes: Literal["report", "hold"] = "report"
    poll: Seconds = 60.0
    start: float = Field(default=10.0, ge=0, le=600)
    results: int = Field(default=5, ge=1, le=50)
    budget: int = Field(default=4_000, ge=100, le=1_000_000)
    description: int = Field(default=1_000, ge=80, le=100_000)
    python: tuple[str, ...] = ()
    openapi: dict[str, OpenAPI] = Field(default_factory=dict)
    indexes: tuple[str, ...] = ()
    issuer: IssuerPart | None = None

    @field_validator("max_tools")
    @classmethod
    def _room_for_the_doors(cls, value: int) -> int:
        if 0 < value < 3:
            raise ValueError("3 or more, for the gateway's own tools; 0 for no bound")
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Behind:
    """One MCP server behind the gateway, and its variants for callers with credentials of their own."""

    server: Server
    part: ServerPart = field(default_factory=ServerPart)
    own: Mapping[str, Server] = field(default_factory=dict[str, Server])


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """All that stands behind a gateway. `problems` are entries that cannot be used; the others can."""

    servers: tuple[Behind, ...] = ()
    options: Options = field(default_factory=Options)
    folder: Path = Path()
    problems: tuple[Problem, ...] = ()

    @classmethod
    def read(cls, path: str | Path) -> Config:
        """The configuration in a file.

        Raises:
            InvalidSource: it cannot be read, or our own part of it is wrong.
        """
        file = Path(path)
        return cls.of(parsed(file), file.name, file.resolve().parent)

    @classmethod
    def of(cls, document: object, where: str = "configuration", folder: Path | None = None) -> Config:
        """The configuration that a document holds.

        Raises:
            InvalidSource: it is no such document, or our own part of it is wrong.
        """
        body = as_object(document, where)
        _check_keys(body, where)
        listed: object = body.get("mcpServers", body.get("servers", {}))
        servers, broken = servers_of({"mcpServers": listed}, where)
        entries = cast("dict[str, dict[str, Any]]", listed)
        options = _checked(Options, body.get(PART, {}), f"{where}: {PART}")
        return cls(
            servers=tuple(_behind(server, entries[server.name]) for server in servers),
            options=options,
            folder=folder or Path(),
            problems=tuple(Problem(f"server {name[:80]!r}", reason) for name, reason in broken),
        )


def _check_keys(body: Mapping[str, Any], where: str) -> None:
    """Refuse a document that names its servers by a key that nobody knows; other programs' keys may stand beside ours.

    Raises:
        InvalidSource: the text names the key.
    """
    known = ("mcpServers", "servers", PART)
    if not body.keys() & set(known):
        given = f"the key {next(iter(body))[:80]!r} is unknown" if body else "it is empty"
        raise InvalidSource(f"{where}: {given}; use {', '.join(known)}")


def _behind(server: Server, entry: Mapping[str, Any]) -> Behind:
    part = _checked(ServerPart, entry.get(PART, {}), f"{PART} of server {server.name[:80]!r}")
    return Behind(
        server=server, part=part, own={key: _variant(server.name, entry, more) for key, more in part.keys.items()}
    )


def _variant(name: str, entry: Mapping[str, Any], more: Credentials) -> Server:
    """The server as one key reaches it."""
    merged: dict[str, Any] = {
        **entry,
        "headers": {**(entry.get("headers") or {}), **more.headers},
        "env": {**(entry.get("env") or {}), **more.env},
    }
    good, bad = servers_of({"mcpServers": {name: merged}})
    if bad:
        raise InvalidSource(f"the credentials for server {name[:80]!r} cannot be used: {bad[0][1]}")
    return good[0]


def _checked(shape: type[Shape], value: object, where: str) -> Shape:
    try:
        return shape.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(step)[:60] for step in first["loc"])
        if first["type"] == "extra_forbidden":
            known = ", ".join(_fields(shape, first["loc"][:-1]))
            raise InvalidSource(f"{where}: unknown key {place!r}; use {known}") from None
        raise InvalidSource(f"{where}: {place or 'it'}: {first['msg'][:160]}, not {first['input']!r:.80}") from None


def _fields(shape: type[BaseModel], place: tuple[int | str, ...]) -> list[str]:
    """The keys that the part of a model at a place takes."""
    found: type[BaseModel] = shape
    for step in place:
        field_ = found.model_fields.get(str(step))
        inner = _models(field_.annotation) if field_ else []
        found = inner[0] if inner else found
    return list(found.model_fields)


def _models(annotation: object) -> list[type[BaseModel]]:
    """The models that an annotation such as dict[str, Model] or Model | None holds."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in _models(part)]
