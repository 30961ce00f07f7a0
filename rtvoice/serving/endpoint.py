"""The port: WebSocket connections become sessions, other requests are answered by the site.

The only importer of websockets on the server's side.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
import time
from http import HTTPStatus
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

import structlog
from websockets.asyncio.server import serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Response

from rtvoice.errors import SetupError
from rtvoice.serving.access import Gate, read_keys
from rtvoice.serving.admission import Admission
from rtvoice.serving.handshake import Accepted, Handshake
from rtvoice.serving.http import Answer, Site, StaticFiles, as_json, plain
from rtvoice.serving.lexicon import FollowedLexicon
from rtvoice.serving.lifecycle import State
from rtvoice.serving.logs import trace
from rtvoice.serving.metrics import Metrics
from rtvoice.serving.offer import Offer
from rtvoice.serving.peer import PeerGone
from rtvoice.serving.proxies import Proxies
from rtvoice.serving.quota import Clients
from rtvoice.serving.session import Session
from rtvoice.serving.status import MemoryGauge, Status
from rtvoice.speech.synthesizer import SpeechOptions

if TYPE_CHECKING:
    from collections.abc import Callable

    from structlog.typing import FilteringBoundLogger
    from websockets.asyncio.server import Server, ServerConnection
    from websockets.http11 import Request

    from rtvoice.config import ServerConfig
    from rtvoice.speech.synthesizer import Synthesizer

# Audio that was handed to the operating system cannot be recalled by a cancel, so little of it waits there: half a
# second of 16 bit audio in the process and the socket's buffer together, while the listener does not read.
_WRITE_LIMIT = 4 << 10
_SEND_BUFFER = 16 << 10  # Linux doubles it, for its own book-keeping

_MAX_QUEUED_MESSAGES = 4
_OPEN_TIMEOUT_S = 10.0
_PING_INTERVAL_S = 20.0
# A ping waits behind audio that a listener who plays in real time has not read yet.
_PING_TIMEOUT_S = 40.0
_CLOSE_TIMEOUT_S = 5.0
_RETRY_AFTER_S = 1.0


class WebSocketPeer:
    """A websockets connection as a session's `Peer`."""

    def __init__(self, connection: ServerConnection) -> None:
        self._connection = connection

    async def receive(self) -> str | bytes | None:
        """See `Peer.receive`. Closes the connection itself when the framing is broken."""
        try:
            return await self._connection.recv()
        except ConnectionClosed:
            return None

    async def send(self, data: str | bytes) -> None:
        """See `Peer.send`."""
        try:
            await self._connection.send(data)
        except ConnectionClosed as error:
            raise PeerGone from error

    async def close(self, code: int, reason: str) -> None:
        """See `Peer.close`."""
        await self._connection.close(code, reason)


class Endpoint:
    """An open port. An async context manager: entering listens, leaving closes every connection.

    Args:
        config: where to listen and what peers may ask for.
        synthesizer: entered.
        metrics: where what happens is counted; by default its own.
        lexicon: what sessions read with; by default the configuration's, as it is now.
        standing: tells where the engine stands and for how many seconds; by default ready, ever since.

    Raises:
        SetupError: the keys, the proxies or the certificate cannot be used; (on entering) the address cannot be
            listened on.
    """

    def __init__(
        self,
        config: ServerConfig,
        synthesizer: Synthesizer,
        metrics: Metrics | None = None,
        lexicon: FollowedLexicon | None = None,
        standing: Callable[[], tuple[State, float]] | None = None,
    ) -> None:
        self._config = config
        self._synthesizer = synthesizer
        self._metrics = metrics if metrics is not None else Metrics(config.prices)
        self._lexicon = lexicon if lexicon is not None else FollowedLexicon(config.lexicon)
        self._admission = Admission(
            most_s=config.wait_s,
            places=lambda: synthesizer.places,
            loading_s=lambda: synthesizer.loading_s,
            work_s=lambda: synthesizer.first_audio_s,
        )
        self._site = Site(StaticFiles(config.web), self._retry_after_s, self._expose)
        gate = Gate(read_keys(config.keys)) if config.keys is not None else None
        ready = Offer(synthesizer, config.limits).ready()
        self._handshake = Handshake(ready, config.origins, gate, self._check_voice)
        self._proxies = Proxies(config.trusted_proxies)
        self._clients = Clients(config.client_limits)
        self._root_path = config.root_path.rstrip("/")
        # Between a handshake's request and its end; a peer may be gone by then.
        self._accepted: WeakKeyDictionary[ServerConnection, Accepted] = WeakKeyDictionary()
        self._sessions: dict[Session, ServerConnection] = {}
        self._quiet = asyncio.Event()
        self._quiet.set()
        self._stopping = False
        made_at = time.monotonic()
        self._standing = standing or (lambda: (State.READY, time.monotonic() - made_at))
        self._memory = MemoryGauge()
        self._server: Server | None = None
        self._log: FilteringBoundLogger = structlog.get_logger("rtvoice.endpoint")

    @property
    def address(self) -> tuple[str, int]:
        """Host and port listened on."""
        if self._server is None:
            raise RuntimeError("the endpoint is not entered")
        host, port = next(iter(self._server.sockets)).getsockname()[:2]
        return host, port

    @property
    def is_quiet(self) -> bool:
        """Whether there is no session."""
        return not self._sessions

    async def __aenter__(self) -> Self:
        config = self._config
        try:
            self._server = await serve(
                self._handle,
                config.host,
                config.port,
                ssl=_tls(config),
                process_request=self._process_request,
                compression=None,  # audio does not shrink, and each connection would hold 50 KB for trying
                server_header=None,
                open_timeout=_OPEN_TIMEOUT_S,
                ping_interval=_PING_INTERVAL_S,
                ping_timeout=_PING_TIMEOUT_S,
                close_timeout=_CLOSE_TIMEOUT_S,
                max_size=config.limits.message_bytes,
                max_queue=_MAX_QUEUED_MESSAGES,
                write_limit=_WRITE_LIMIT,
                # Its records are about single peers (a port scan, a broken handshake); what concerns us is logged here.
                logger=logging.Logger("rtvoice.websockets", level=logging.CRITICAL),
            )
        except OSError as error:
            raise SetupError(
                f"Cannot listen on {config.host} port {config.port}: {error.strerror or error}. Choose another port."
            ) from error
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()

    async def drain(self, deadline_s: float) -> bool:
        """Take no more connections and utterances, and wait until those that live have ended.

        Args:
            deadline_s: how long to wait. What has not ended then is ended in an error.

        Returns:
            Whether all ended by themselves. Cancelling it is as if the deadline had come, once `abort` is called.
        """
        self._stopping = True
        if self._server is not None:
            self._server.close(close_connections=False)
        for session in list(self._sessions):
            session.stop()
        return await self._become_quiet(deadline_s)

    async def abort(self) -> None:
        """End every session: utterances in an error, connections with close code 1001."""
        for session in list(self._sessions):
            session.abort()
        if not await self._become_quiet(_CLOSE_TIMEOUT_S):
            connections = list(self._sessions.values())
            for connection in connections:
                connection.transport.abort()
            await self._quiet.wait()

    async def _become_quiet(self, within_s: float) -> bool:
        try:
            async with asyncio.timeout(within_s):
                await self._quiet.wait()
        except TimeoutError:
            return False
        return True

    async def _handle(self, connection: ServerConnection) -> None:
        _limit_send_buffer(connection)
        accepted = self._accepted.pop(connection)
        if self._is_full or not self._clients.has_room(accepted.client):  # others came in while its handshake ended
            await connection.close(1013, "no more sessions are taken now")
            return
        client = self._clients.open(accepted.client)
        log = self._log.bind(session=connection.id.hex[:12])
        session = Session(
            WebSocketPeer(connection),
            self._synthesizer,
            self._config,
            log,
            admission=self._admission,
            metrics=self._metrics,
            client=client,
            dialect=accepted.dialect,
            lexicon=lambda: self._lexicon.lexicon,
        )
        self._sessions[session] = connection
        self._quiet.clear()
        log.info("session opened", sessions=len(self._sessions))
        try:
            if self._stopping:
                session.stop()
            await session.run()
        except Exception as error:
            log.error("session failed", error=trace(error))  # noqa: TRY400  # see trace
            await connection.close(1011, "a fault of the server")
        finally:
            del self._sessions[session]
            self._clients.close(client)
            if not self._sessions:
                self._quiet.set()
            log.info("session closed", close_code=connection.close_code, sessions=len(self._sessions))

    def _check_voice(self, voice: str, language: str | None) -> None:
        self._synthesizer.check(SpeechOptions(voice=voice, language=language))

    async def _process_request(self, connection: ServerConnection, request: Request) -> Response | None:
        headers = list(request.headers.raw_items())
        target = self._below_root(request.path)
        remote = self._proxies.sender(str(connection.remote_address[0]), headers)
        if "upgrade" not in request.headers.get("Connection", "").lower():
            return _response(await self._answer(target, request.headers, remote))
        decision = self._decide(target, headers, remote)
        if isinstance(decision, Answer):
            return _response(decision)
        self._accepted[connection] = decision
        return None

    async def _answer(self, target: str, headers: Headers, remote: str) -> Answer:
        address, items = urlsplit(target), list(headers.raw_items())
        answer: Answer | None = None
        match address.path:
            case "/token":
                answer = self._handshake.token(address.query, items)
            case "/metrics":
                answer = self._handshake.refuse_metrics(address.query, items)
            case "/status":
                client = self._handshake.admit(address.query, items, remote)
                answer = client if isinstance(client, Answer) else await self._status(headers.get("Origin"))
        return answer or self._site.answer(address.path, headers.get("If-None-Match"))

    async def _status(self, origin: str | None) -> Answer:
        memory_bytes = await self._memory.read()
        state, since_s = self._standing()
        status = Status(
            state=state.value,
            since_s=since_s,
            memory_bytes=memory_bytes,
            sessions=len(self._sessions),
            streams=self._synthesizer.places,
            queue=self._admission.hungry,
            utterances=sum(session.utterances for session in self._sessions),
        )
        return as_json(status.encode(), origin=origin)

    def _below_root(self, target: str) -> str:
        """A request's target without the path that a proxy serves rtvoice under."""
        below = target.removeprefix(self._root_path)
        return below if below.startswith("/") else target

    def _decide(self, target: str, headers: list[tuple[str, str]], remote: str) -> Accepted | Answer:
        decision = self._handshake.decide(target, headers, remote)
        if isinstance(decision, Answer):
            return decision
        if not self._clients.has_room(decision.client):
            self._metrics.refused("session")
            return plain(
                HTTPStatus.TOO_MANY_REQUESTS,
                "This client has as many sessions as it may.",
                retry_after_s=_RETRY_AFTER_S,
            )
        if (retry_after_s := self._retry_after_s()) is not None:
            self._metrics.refused("session")
            return plain(HTTPStatus.SERVICE_UNAVAILABLE, "No more sessions are taken now.", retry_after_s=retry_after_s)
        return decision

    @property
    def _is_full(self) -> bool:
        return len(self._sessions) >= self._config.limits.connections

    def _retry_after_s(self) -> float | None:
        """How long to wait until an utterance of a new session would be taken; None if it would be now."""
        if self._stopping or self._is_full:
            return _RETRY_AFTER_S
        return self._admission.retry_after_s

    def _expose(self) -> bytes:
        return self._metrics.expose(
            hungry=self._admission.hungry, predicted_s=self._admission.predicted_s, sessions=len(self._sessions)
        )


def _tls(config: ServerConfig) -> ssl.SSLContext | None:
    if config.certificate is None:
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(config.certificate, config.private_key)
    except ssl.SSLError as error:
        raise SetupError(
            f"{config.certificate} is no chain of certificates in PEM, or the key is not its own."
        ) from error
    except OSError as error:
        raise SetupError(
            f"The certificate {config.certificate} or its key cannot be read: {error.strerror}."
        ) from error
    return context


def _limit_send_buffer(connection: ServerConnection) -> None:
    transport_socket = connection.transport.get_extra_info("socket")
    if transport_socket is not None:
        transport_socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER)


def _response(answer: Answer) -> Response:
    headers = Headers(answer.headers | {"Content-Length": str(len(answer.body))})
    return Response(answer.status.value, answer.status.phrase, headers, answer.body)
