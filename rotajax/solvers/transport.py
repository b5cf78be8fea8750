"""`Transport`: one request over HTTP, and what came back or how it broke."""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from rotajax import __version__
from rotajax.solvers.answer_error import one_line
from rotajax.solvers.http import aiohttp
from rotajax.solvers.secret import Secret

# Bytes of a response that are read at most; 8,192 tokens are far below it.
LARGEST = 32 * 2**20
# A long history is written in pieces, so that other requests come to their turn.
PIECE = 256 * 2**10
# Seconds in which a connection must stand.
CONNECT = 30.0


@dataclasses.dataclass(frozen=True)
class Response:
    """A response that came whole, whatever its status; the key is not in its body."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclasses.dataclass(frozen=True)
class Failed:
    """An attempt that came to nothing: its kind, one line, the seconds that the server asks to wait, if it does."""

    kind: str  # timeout, unreachable, untrusted, cut_body, connection, too_large
    line: str
    wait: float | None = None


class Transport:
    """The connections to one address. The key is put into the header of each request and nowhere else."""

    def __init__(self, url: str, key: Secret | None):
        self.url = url
        self._key = key
        self._session: aiohttp.ClientSession | None = None
        self._proxy: str | None = None

    async def aclose(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def post(self, parts: tuple[bytes, ...], timeout: float) -> Response | Failed:
        """Return the response to a JSON body in parts, or how it failed; `timeout` in seconds is for all of it."""
        headers = {} if self._key is None else self._key.header()
        limit = aiohttp.ClientTimeout(total=timeout, sock_connect=min(timeout, CONNECT))
        session = self._open()
        try:
            # A redirect could carry the key elsewhere: it is an error like any other status.
            async with session.post(
                self.url, data=_Body(parts), headers=headers, timeout=limit, allow_redirects=False, proxy=self._proxy
            ) as response:
                body = await _read(response)
        except (aiohttp.ClientConnectorCertificateError, aiohttp.ClientConnectorSSLError, aiohttp.InvalidURL) as error:
            return Failed("untrusted", _say(error))
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            return Failed("unreachable", f"cannot reach {self.url}: {_say(error)}")
        except TimeoutError:
            return Failed("timeout", f"no answer in {timeout:g} s")
        except aiohttp.ClientPayloadError as error:
            return Failed("cut_body", f"the answer broke off: {_say(error)}")
        except (aiohttp.ClientError, OSError) as error:
            return Failed("connection", f"the connection broke: {_say(error)}")
        except _TooLarge:
            return Failed("too_large", f"an answer of more than {LARGEST} bytes")
        return Response(response.status, response.headers, body if self._key is None else self._key.scrub(body))

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0),  # who asks bounds the requests in flight
                cookie_jar=aiohttp.DummyCookieJar(),
                headers={"User-Agent": f"rotajax/{__version__}", "Accept": "application/json"},
            )
            parts = urlsplit(self.url)
            # Read here, once: `trust_env` would also take passwords from ~/.netrc.
            self._proxy = None if proxy_bypass(parts.hostname or "") else getproxies().get(parts.scheme)
        return self._session


class _TooLarge(Exception):
    pass


class _Body(aiohttp.payload.Payload):
    """A body whose parts are joined on the wire only: a history is megabytes, and many are in flight."""

    _autoclose = True

    def __init__(self, parts: tuple[bytes, ...]):
        super().__init__(parts, content_type="application/json")
        self._size = sum(map(len, parts))

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        return b"".join(self._value).decode(encoding, errors)

    async def write(self, writer: Any) -> None:
        for piece in pieces(self._value):
            await writer.write(piece)


def pieces(parts: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the bytes of parts in pieces of PIECE to twice that; the last one may be shorter."""
    group, size = [], 0
    for part in parts:
        # One part may be all of a conversation.
        for start in range(0, len(part), PIECE):
            group.append(part if len(part) <= PIECE else part[start : start + PIECE])
            size += len(group[-1])
            if size >= PIECE:
                yield b"".join(group)
                group, size = [], 0
    if group:
        yield b"".join(group)


async def _read(response: aiohttp.ClientResponse) -> bytes:
    parts, size = [], 0
    async for part in response.content.iter_any():
        size += len(part)
        if size > LARGEST:
            raise _TooLarge
        parts.append(part)
    return b"".join(parts)


def _say(error: BaseException) -> str:
    """Return what an error says, without its request: that one's headers have the key."""
    return one_line(f"{type(error).__name__}: {error}") if str(error) else type(error).__name__
