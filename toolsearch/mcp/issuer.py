"""Bearer tokens of an OpenID Connect issuer: who a token stands for, and which groups it brings.

Tokens are JSON Web Tokens (RFC 9068 in spirit): signed by a key that the issuer publishes, for our audience, not
expired. Source of the rules: OpenID Connect Discovery 1.0, RFC 7519, RFC 8725.
"""

from __future__ import annotations

import asyncio
import ipaddress
import time
from collections.abc import Mapping
from typing import Any, Final, cast
from urllib.parse import urlsplit

import httpx2
import jwt

from toolsearch.catalog.loaded import as_object, parse_json
from toolsearch.errors import InvalidInput, InvalidSource
from toolsearch.mcp.calling import Caller

ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Only signatures with a key pair: a published key can then never be taken for a shared secret."""
MAX_TOKEN: Final = 16_000
MAX_ANSWER: Final = 1_000_000
MAX_GROUPS: Final = 500
SECONDS: Final = 10.0
KEPT: Final = 600.0
"""Seconds that keys are used before they are read again."""
AGAIN: Final = 30.0
"""Seconds after which an unknown key may make us read the keys again."""
LEEWAY: Final = 30.0


class Issuer:
    """Checks the tokens of one issuer. `audience` is what tokens for us must name; `groups` is the claim with groups.

    A token without that claim brings no groups, so it sees the tools that everybody may see.

    Raises:
        InvalidInput: the issuer's address is not https, nor on this machine.
    """

    def __init__(self, url: str, audience: str, *, groups: str = "groups") -> None:
        parts = urlsplit(url)
        if parts.scheme != "https" and not (parts.scheme == "http" and _is_loopback(parts.hostname or "")):
            raise InvalidInput(f"the issuer must have an https address, not {url[:120]!r}")
        self.url, self.audience, self._groups = url, audience, groups
        self._keys: dict[str, Any] = {}
        self._read_at = float("-inf")
        self._reading = asyncio.Lock()

    async def caller(self, token: str) -> Caller:
        """Whom a token stands for; its subject is the caller's name.

        Raises:
            InvalidInput: the token is not good, or the issuer cannot be asked. The text holds nothing of the token.
        """
        if len(token) > MAX_TOKEN:
            raise InvalidInput(f"the token has {len(token)} characters; the bound is {MAX_TOKEN}")
        try:
            header = jwt.get_unverified_header(token)
            key = await self._key(str(header.get("kid", "")))
            claims = jwt.decode(
                token,
                key,
                algorithms=list(ALGORITHMS),
                audience=self.audience,
                issuer=self.url,
                leeway=LEEWAY,
                options={"require": ["exp", "iss", "aud", "sub"]},
            )
        except InvalidInput:
            raise
        except (jwt.PyJWTError, ValueError) as error:
            raise InvalidInput(f"the token is not good: {type(error).__name__}") from None
        return Caller(_groups(claims.get(self._groups)), str(claims["sub"])[:200])

    async def _key(self, name: str) -> Any:
        """The key of this name, or the only one when the token names none."""
        now = time.monotonic()
        if now - self._read_at > KEPT or (name not in self._keys and now - self._read_at > AGAIN):
            async with self._reading:
                if self._read_at < now:
                    try:
                        self._keys = await self._published()
                    finally:
                        self._read_at = time.monotonic()
        if not name and len(self._keys) == 1:
            return next(iter(self._keys.values()))
        if name not in self._keys:
            raise InvalidInput("the token is not good: its key is unknown")
        return self._keys[name]

    async def _published(self) -> dict[str, Any]:
        about = await _fetched(f"{self.url.rstrip('/')}/.well-known/openid-configuration")
        if about.get("issuer") != self.url:
            raise InvalidInput("the issuer gives itself another name than the one that is configured")
        place = about.get("jwks_uri")
        if not isinstance(place, str) or urlsplit(place).scheme not in ("https", urlsplit(self.url).scheme):
            raise InvalidInput("the issuer names no address of its keys")
        found = jwt.PyJWKSet.from_dict(dict(await _fetched(place)))
        return {str(one.key_id or ""): one.key for one in found.keys if one.public_key_use in (None, "sig")}


async def _fetched(url: str) -> Mapping[str, Any]:
    try:
        async with httpx2.AsyncClient(timeout=SECONDS, follow_redirects=False) as client:
            answer = await client.get(url)
            answer.raise_for_status()
            if len(answer.content) > MAX_ANSWER:
                raise InvalidInput("the issuer's answer is too long")
            return as_object(parse_json(answer.text, "the issuer's answer"), "the issuer's answer")
    except (httpx2.HTTPError, InvalidSource) as error:
        raise InvalidInput(f"the issuer cannot be asked now: {type(error).__name__}") from None


def _groups(claim: object) -> frozenset[str]:
    names = claim.split() if isinstance(claim, str) else claim
    listed = cast("list[object]", names) if isinstance(names, list) else []
    return frozenset(one for one in listed[:MAX_GROUPS] if isinstance(one, str))


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
