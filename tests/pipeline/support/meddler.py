"""An HTTP proxy that reads along, and spoils single messages: what networks,
caches and broken machines do to the conversation of a BOINC client, or of ours."""

import contextlib
import http.client
import http.server
import socket
import threading

HOP = ("connection", "keep-alive", "transfer-encoding", "expect")


class Exchange:
    """One request, and what came back."""

    def __init__(self, method, path, headers, body):
        self.method = method
        self.path = path
        self.headers = headers
        self.body = body
        self.status = 0
        self.reply_headers = []
        self.reply = b""

    def is_rpc(self):
        return self.path == "/boinc/cgi"


class Meddler(http.server.ThreadingHTTPServer):
    """Listens on a port of its own and passes on to another. A meddling is a
    function of an exchange: it is called once the server has answered, may
    change status and reply, and returns True if it did its work: then it is
    forgotten. It may also ask for a broken connection: see cut_reply()."""

    daemon_threads = True

    def __init__(self, port):
        super().__init__(("127.0.0.1", 0), Handler)
        self.target = port
        self.port = self.server_address[1]
        self.master = f"http://127.0.0.1:{self.port}/boinc/"
        self.seen = []
        self.meddlings = []
        self.request_cuts = []
        self.own_replies = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def meddle(self, meddling):
        self.meddlings.append(meddling)

    def cut_reply(self, words, after):
        """Breaks off the reply to the first request whose path has the words
        after so many bytes of its body."""
        def cut(exchange):
            if words not in exchange.path:
                return False
            exchange.cut_after = after
            return True
        self.meddle(cut)

    def drop_reply(self, wants):
        """The server answers, and the client hears nothing of it: the first
        exchange that the function wants."""
        def drop(exchange):
            if not wants(exchange):
                return False
            exchange.cut_after = -1
            return True
        self.meddle(drop)

    def cut_request(self, wants, after):
        """Breaks off a request after so many bytes of its body: the first
        whose path and body the function wants."""
        self.request_cuts.append((wants, after))

    def reply_instead(self, wants, reply):
        """Answers the first request whose path and body the function wants,
        which the server does not get."""
        self.own_replies.append((wants, reply))

    def rpcs(self):
        return [exchange for exchange in self.seen if exchange.is_rpc()]

    def close(self):
        self.shutdown()
        self.server_close()

    def handle_error(self, request, client_address):
        pass  # broken connections are what this is for


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.pass_on()

    do_POST = do_PUT = do_HEAD = do_GET

    def pass_on(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        exchange = Exchange(self.command, self.path, dict(self.headers), body)
        exchange.cut_after = None
        for cut in list(self.server.request_cuts):
            if cut[0](self.path, body):
                self.server.request_cuts.remove(cut)
                return self.send_part(body[:cut[1]])
        for own in list(self.server.own_replies):
            if own[0](self.path, body):
                self.server.own_replies.remove(own)
                exchange.status, exchange.reply = 200, own[1]
                return self.answer(exchange)
        self.ask(exchange)
        self.server.seen.append(exchange)
        for meddling in list(self.server.meddlings):
            if meddling(exchange):
                self.server.meddlings.remove(meddling)
        self.answer(exchange)
        return None

    def ask(self, exchange):
        headers = {name: value for name, value in exchange.headers.items()
                   if name.lower() not in HOP}
        connection = http.client.HTTPConnection("127.0.0.1",
                                                self.server.target, 60)
        with contextlib.closing(connection):
            connection.request(exchange.method, exchange.path, exchange.body,
                               headers)
            reply = connection.getresponse()
            exchange.status = reply.status
            exchange.reply_headers = [
                header for header in reply.getheaders()
                if header[0].lower() not in (*HOP, "content-length")]
            exchange.reply = reply.read()

    def answer(self, exchange):
        if exchange.cut_after == -1:
            return self.hang_up()
        self.send_response(exchange.status)
        for name, value in exchange.reply_headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(exchange.reply)))
        self.end_headers()
        self.wfile.write(exchange.reply[:exchange.cut_after])
        return self.hang_up() if exchange.cut_after is not None else None

    def send_part(self, part):
        """To the server, as if the network had failed then. The client hears
        503: libcurl would repeat what got no answer at all by itself."""
        lines = [f"{self.command} {self.path} HTTP/1.1"]
        lines += [f"{name}: {value}" for name, value in self.headers.items()
                  if name.lower() not in HOP]
        with socket.create_connection(("127.0.0.1", self.server.target)) as to:
            to.settimeout(60)
            to.sendall("\r\n".join([*lines, "", ""]).encode() + part)
            to.shutdown(socket.SHUT_WR)
            while to.recv(4096):
                pass  # it hangs up once it has read what there is
        self.send_response(503)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def hang_up(self):
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)
