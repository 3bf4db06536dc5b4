"""A TCP proxy that breaks connections in the ways that networks do."""

import contextlib
import socket
import struct
import threading

PIECE = 16384
RESET = struct.pack("ii", 1, 0)  # SO_LINGER: close with a reset


class Proxy:
    """Listens on a port of its own and passes bytes to and from another.
    It starts out honest; the orders below may come at any time."""

    def __init__(self, port, on_request=None):
        self.target = ("127.0.0.1", port)
        # Called with (connection's number, bytes) that a client sent.
        self.on_request = on_request
        self.moves = threading.Event()
        self.moves.set()
        self.is_refusing = False
        self.lock = threading.Lock()
        self.left = None  # bytes that still pass before all is cut
        self.sockets = set()
        self.connections = 0
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def address(self, server):
        """What volunteers attach to, by way of this proxy."""
        return server.address().replace(f":{server.port}", f":{self.port}")

    def cut(self, how="close"):
        """Ends all connections; with "reset", as if a machine had died."""
        with self.lock:
            victims = list(self.sockets)
        for victim in victims:
            if how == "reset":
                with contextlib.suppress(OSError):
                    victim.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                      RESET)
            with contextlib.suppress(OSError):
                victim.shutdown(socket.SHUT_RDWR)

    def truncate(self, after):
        """Cuts everything once so many more bytes have passed."""
        with self.lock:
            self.left = after

    def stall(self):
        """Takes bytes no further, and closes nothing."""
        self.moves.clear()

    def refuse(self):
        """New connections are closed at once."""
        self.is_refusing = True

    def heal(self):
        with self.lock:
            self.left = None
        self.is_refusing = False
        self.moves.set()

    def close(self):
        self.listener.close()
        self.heal()
        self.cut()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            try:
                if self.is_refusing:
                    raise OSError("refused")
                server = socket.create_connection(self.target, 5)
                server.settimeout(None)
            except OSError:
                client.close()
                continue
            self.connections += 1
            pair = (client, server)
            with self.lock:
                self.sockets.update(pair)
            for source, sink in (pair, pair[::-1]):
                watcher = self.on_request if source is client else None
                threading.Thread(
                    target=self._pass, daemon=True,
                    args=(self.connections, source, sink, watcher)).start()

    def _allowed(self, count):
        """How many of these bytes may pass; fewer means: cut now."""
        with self.lock:
            if self.left is None:
                return count
            passed = min(count, self.left)
            self.left -= passed
            if passed < count:
                self.left = None
            return passed

    def _pass(self, number, source, sink, watcher):
        try:
            while data := source.recv(PIECE):
                self.moves.wait()
                allowed = self._allowed(len(data))
                if watcher:
                    watcher(number, data[:allowed])
                sink.sendall(data[:allowed])
                if allowed < len(data):
                    self.cut()
                    break
        except OSError:
            pass
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        with self.lock:
            is_last = source not in self.sockets
            self.sockets.discard(source)
            self.sockets.discard(sink)
        if is_last:  # the other direction has ended before
            source.close()
            sink.close()
