"""Where the service may connect to when a request makes it: hosts and schemes are listed, inner networks are closed."""

from __future__ import annotations

import ipaddress
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import anyio
import httpx2

from toolsearch.errors import InvalidSource

if TYPE_CHECKING:
    from toolsearch.server.settings import Settings

    Address = ipaddress.IPv4Address | ipaddress.IPv6Address

WRAPPED: Final = ("::/96", "::ffff:0:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32")
INNER: Final = ("fec0::/10", "5f00::/16", "3fff::/20", "192.88.99.0/24")
CLOSED: Final = tuple(ipaddress.ip_network(one) for one in (*WRAPPED, *INNER))
"""Networks whose addresses stand for an IPv4 one, which may be an inner one; and inner or reserved ones that the
standard library takes for public."""
SECONDS: Final = 30.0
PORTS: Final = {"https": 443, "http": 80}


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """`hosts` are names, or endings that begin with a dot; none means any. `private` opens inner networks too."""

    hosts: tuple[str, ...] = ()
    private: bool = False
    plain_http: bool = False

    @classmethod
    def of(cls, settings: Settings) -> Policy:
        """What the settings allow."""
        hosts = tuple(name.lower() for name in settings.source_hosts)
        return cls(hosts=hosts, private=settings.private_sources, plain_http=settings.plain_http_sources)

    def check_url(self, url: str) -> None:
        """Refuse an address that could never be used.

        Raises:
            InvalidSource: its scheme or host is not allowed.
        """
        try:
            found = httpx2.URL(url)
        except (httpx2.InvalidURL, TypeError, ValueError) as error:
            raise InvalidSource(f"{url[:120]!r} is no URL: {str(error)[:80]}") from None
        if found.scheme not in PORTS or (found.scheme == "http" and not self.plain_http):
            raise InvalidSource(f"sources are read over https, not {found.scheme[:20]!r}; see plain_http_sources")
        if found.userinfo:
            raise InvalidSource("a URL of a source holds no user and password; use headers")
        host = found.host.lower().rstrip(".")
        listed = any(host == name or (name.startswith(".") and host.endswith(name)) for name in self.hosts)
        if not host or (self.hosts and not listed):
            raise InvalidSource(f"{host[:80]!r} is not among the hosts that sources may be read from (source_hosts)")

    def allows(self, address: Address) -> bool:
        """Whether a connection to an address may be made."""
        inner = getattr(address, "ipv4_mapped", None) or address
        public = inner.is_global and not inner.is_multicast and not any(inner in one for one in CLOSED)
        return self.private or public


class Guarded(httpx2.AsyncBaseTransport):
    """Looks a host up, checks every address, and connects to one of those: a name cannot change in between."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._inner = httpx2.AsyncHTTPTransport(trust_env=False)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request, as also every redirect is.

        Raises:
            InvalidSource: its address is not allowed.
        """
        self._policy.check_url(str(request.url))
        host = request.url.host
        address = await self._address(host, request.url.port or PORTS[request.url.scheme])
        moved = httpx2.Request(
            request.method,
            request.url.copy_with(host=address),
            headers=request.headers,
            stream=request.stream,
            extensions={**request.extensions, "sni_hostname": host},
        )
        return await self._inner.handle_async_request(moved)

    async def aclose(self) -> None:
        """Let all connections go."""
        await self._inner.aclose()

    async def _address(self, host: str, port: int) -> str:
        try:
            found = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError as error:
            raise InvalidSource(f"the host {host[:80]!r} is not known: {str(error)[:80]}") from None
        addresses = [ipaddress.ip_address(str(one[4][0]).partition("%")[0]) for one in found]
        if not addresses or not all(map(self._policy.allows, addresses)):
            raise InvalidSource(f"the host {host[:80]!r} lies in an inner network; see private_sources")
        return str(addresses[0])


def client(policy: Policy, headers: dict[str, str] | None = None) -> httpx2.AsyncClient:
    """A client that keeps to the policy; it follows no redirects."""
    return httpx2.AsyncClient(transport=Guarded(policy), headers=headers, timeout=SECONDS, trust_env=False)
