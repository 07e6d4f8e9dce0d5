"""A member of a world of the Rankweave service: asyncio, and the package websockets (10.4 or newer).

The protocol is that of docs/service-protocol.md.
"""

import asyncio
import json

import websockets


def worlds_url(service):
    """The WebSocket of the worlds of a service at http://host:port, as `rankweave serve` prints it; ws: stays."""
    scheme, separator, rest = service.partition("://")
    if not separator or scheme not in ("http", "https", "ws", "wss"):
        raise ValueError(f"expected the URL of a service, such as http://127.0.0.1:7878, got {service}")
    if scheme in ("ws", "wss"):
        return service
    return f"{scheme.replace('http', 'ws')}://{rest.rstrip('/')}/v1/worlds"


class CallError(Exception):
    """A call failed; `code` is one of the codes of docs/errors.md."""

    def __init__(self, error):
        super().__init__(f"{error['code']}: {error['message']}")
        self.code = error["code"]
        self.details = error["details"]


class Member:
    """One socket to the service. At most one world at a time."""

    def __init__(self, socket):
        self._socket = socket
        self._last_id = 0
        self._pending = {}
        self._ended = ConnectionError("the service has closed the socket")
        self.events = asyncio.Queue()
        self.rank = None
        self.size = None
        self._reader = asyncio.ensure_future(self._read())

    @classmethod
    async def connect(cls, service, token=None):
        """Connects and says hello. The token travels in this first message, never in the URL."""
        member = cls(await websockets.connect(worlds_url(service), max_size=None))
        fields = {"protocol": 1}
        if token is not None:
            fields["token"] = token
        await member.call("hello", **fields)
        return member

    async def call(self, kind, **fields):
        """Sends a request and waits for its reply. Calls may overlap; they start in the order of sending."""
        self._last_id += 1
        number = self._last_id
        reply = asyncio.get_event_loop().create_future()
        self._pending[number] = reply
        await self._socket.send(json.dumps({"id": number, "kind": kind, **fields}))
        return await reply

    async def join(self, name, members, address=None):
        """Joins the world of this name, and waits until all members have."""
        fields = {} if address is None else {"address": address}
        await self.call("join", name=name, members=members, **fields)
        begun = await self.event("begun")
        self.rank = begun["rank"]
        self.size = begun["size"]

    async def event(self, name):
        """The next event of this name; others before it are dropped. Fails when the world, or the socket, ends first."""
        while True:
            event = await self.events.get()
            if event is None:
                self.events.put_nowait(None)  # for the next caller
                raise self._ended
            if event["event"] == name:
                return event
            if event["event"] == "ended":
                raise CallError(event["error"])

    def crash(self):
        """Ends the connection without a handshake, as a lost process would."""
        self._reader.cancel()
        self._socket.transport.abort()

    async def close(self):
        await self._socket.close()
        self._reader.cancel()

    async def _read(self):
        refusal = None
        try:
            async for text in self._socket:
                message = json.loads(text)
                if message.get("event") == "refused":
                    # Of a request, or why the socket is closed next.
                    refusal = CallError(message["error"])
                    if message["id"] in self._pending:
                        self._pending.pop(message["id"]).set_exception(refusal)
                    continue
                if "event" in message:
                    self.events.put_nowait(message)
                    continue
                reply = self._pending.pop(message.pop("reply"))
                if "error" in message:
                    reply.set_exception(CallError(message["error"]))
                else:
                    reply.set_result(message)
        except websockets.ConnectionClosed as closed:
            self._ended = refusal or closed
        # No more replies come; a socket may also be closed in good order.
        for reply in self._pending.values():
            reply.set_exception(self._ended)
        self._pending.clear()
        self.events.put_nowait(None)
