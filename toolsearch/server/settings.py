"""What a service is told: a TOML file, `TOOLSEARCH_...` variables over it, and options of the command over both."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from toolsearch.errors import InvalidInput
from toolsearch.toml_files import read_toml

PREFIX: Final = "TOOLSEARCH_"
MAX_FILE: Final = 1_000_000
LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")


def _split(value: object) -> object:
    """Variables hold lists as texts with commas."""
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


Names = Annotated[tuple[str, ...], BeforeValidator(_split)]
Paths = Annotated[tuple[Path, ...], BeforeValidator(_split)]


class Settings(BaseModel):
    """Everything that can be set, with bounds. Times are in seconds, sizes in bytes; 0 switches a rate off.

    `threads` are those of a worker that search, and as many that change; 0 stands for as many searches at once as there
    are processors, two to four, since they hinder each other beyond that, or eight where an encoder elsewhere is asked.

    `state` is the file of keys, sessions and usage, `mcp` one of `mcpServers` for the gateway, `judge` the name of who
    reranks. `hosts` are further names that the service is reached by, and `source_hosts` the only ones that sources may
    be read from (none means any public one).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    indexes: Paths = ()
    mcp: Path | None = None
    judge: str = ""
    state: Path | None = None
    host: str = "127.0.0.1"
    port: int = Field(8000, ge=0, le=65535)
    workers: int = Field(1, ge=1, le=64)
    threads: int = Field(0, ge=0, le=256)
    hosts: Names = ()
    origins: Names = ()
    rate: float = Field(0.0, ge=0)
    burst: int = Field(100, ge=1)
    concurrent: int = Field(64, ge=1)
    connections: int = Field(1_000, ge=1)
    max_body: int = Field(1_000_000, ge=1_000)
    max_batch: int = Field(8_000_000, ge=1_000)
    body_seconds: float = Field(30.0, gt=0)
    stop_seconds: int = Field(20, ge=0)
    session_seconds: int = Field(86_400, ge=1)
    usage: Literal["off", "hashed", "plain"] = "off"
    usage_days: float = Field(30.0, gt=0)
    log: Literal["json", "text", "off"] = "json"
    log_queries: bool = False
    tracing: bool = False
    source_hosts: Names = ()
    private_sources: bool = False
    plain_http_sources: bool = False

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach the service."""
        return self.host in LOOPBACK

    @property
    def state_file(self) -> Path:
        """Where keys, sessions and usage are kept."""
        return self.state or self.indexes[0] / "data" / "service.sqlite"


def read_settings(file: Path | None, environment: Mapping[str, str], given: Mapping[str, Any]) -> Settings:
    """Settings of a file, of variables and of options; the later ones win.

    Raises:
        InvalidInput: a setting is unknown or of a wrong value; the text names it.
    """
    chosen = {**(_of_file(file) if file else {}), **_of_environment(environment), **given}
    try:
        settings = Settings(**chosen)
    except ValidationError as error:
        told = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()[:5])
        raise InvalidInput(f"settings: {told[:600]}") from None
    if not settings.indexes:
        raise InvalidInput("name the index to serve: --index PATH")
    return settings


def _of_file(file: Path) -> dict[str, Any]:
    body = read_toml(file, "settings", MAX_FILE)
    table: object = body.get("serve", body)
    return cast("dict[str, Any]", table) if isinstance(table, dict) else {}


def _of_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    """Variables that name a setting; others of the prefix belong to somebody else."""
    named = {key.removeprefix(PREFIX).lower(): value for key, value in environment.items() if key.startswith(PREFIX)}
    return {key: value for key, value in named.items() if key in Settings.model_fields}
