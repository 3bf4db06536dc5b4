"""What a hostile client sends, and what the server must answer to it."""

import collections

# data: all bytes of the connection; statuses: allowed answers, None for an
# end without one; words: what its message must name.
Case = collections.namedtuple("Case", "name data statuses words")


def get(path, *headers):
    return request("GET", path, b"", *headers)


def request(method, path, body, *headers, length=None):
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost", *headers]
    if method != "GET" and length != "":
        size = len(body) if length is None else length
        lines.append(f"Content-Length: {size}")
    return "\r\n".join(lines + ["", ""]).encode() + body


def chunked(path, chunks):
    return request("POST", path, chunks, "Transfer-Encoding: chunked",
                   length="")


def session(body, *headers, length=None):
    return request("POST", "/v1/sessions", body, *headers, length=length)


def broken_requests():
    host = b'{"host":"%s"}' % (b"00" * 32)
    return [
        Case("a head cut short", b"GET /healthz HT", [None], ""),
        Case("a body cut short", session(host[:20], length=100), [None], ""),
        Case("a head of 20 KB", get("/", "X: " + "a" * 20000), [431],
             "16384 bytes"),
        Case("a line without an end", b"G" * 1000000, [431], "16384 bytes"),
        Case("no HTTP", b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", [400], ""),
        Case("HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", [400, 505], ""),
        Case("a length over the limit", session(b"", length=300000), [413],
             "/v1/sessions: the body has 300000 bytes, allowed are 4096"),
        Case("a length too short", session(host, length=5), [400],
             "session request"),
        Case("a length of -1", session(host, length=-1), [400], ""),
        Case("a length of 1e30", session(host, length="1" + "0" * 30),
             [400, 413], ""),
        Case("two lengths", session(host, "Content-Length: 3"), [400], ""),
        Case("a length and chunks",
             session(host, "Transfer-Encoding: chunked"), [400], ""),
        Case("a chunk of 2^64 - 1 bytes",
             chunked("/v1/sessions", b"f" * 16 + b"\r\n"),
             [None, 400, 413], ""),
        Case("chunks without end",
             chunked("/v1/sessions", b"1\r\n \r\n" * 300000), [413],
             "4096 bytes"),
        Case("an extension of a chunk without end",
             chunked("/v1/sessions", b"1;" + b"x" * 300000), [400], "chunk"),
        Case("a method that is none", request("BREW", "/", b""),
             [400, 405, 501], ""),
        Case("a method not for this path", request("PUT", "/healthz", b""),
             [405], "/healthz: not with this method"),
        Case("a tunnel", request("CONNECT", "localhost:22", b""),
             [400, 405, 501], ""),
        Case("15 KB of query", get("/v1/status?" + "a=1&" * 3800), [400],
             "request's path"),
        Case("an expectation", session(host, "Expect: a-wonder"), [417], ""),
    ]


def path_tricks():
    paths = ["/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/..%2f..%2f",
             "/v1/objects/..%2f..%2fquorate.toml", "/v1/../keys", "//", "/%00",
             "/v1/runs/none/curve", "/%", "/%zz", "/\\..\\keys",
             "/v1/results/-1", "/.", "/v1/objects/" + "a" * 8000, "*",
             "http://elsewhere/keys"]
    return [Case(f"path {path[:24]}", get(path), [400, 401, 404, 405], "/")
            for path in paths]


def hostile_json(token):
    def work(body):
        return request("POST", "/v1/work", body,
                       f"Authorization: Bearer {token}")
    deep = b"[" * 100000
    flat = b'{"want":1,"wait":0,"device":"x","speed_flops":1}'
    values = {
        b"NaN": "work request", b"Infinity": "work request",
        b"-1": '"want": expected an integer', b"1e30": '"want": expected',
        b"99999999999999999999999": '"want": expected',
        b"1.5": '"want": expected', b'"1"': '"want": expected',
        b"null": '"want" is missing', b"[1]": '"want": expected',
    }
    cases = [Case(f"want {value.decode()}", work(b'{"want":%s}' % value),
                  [400], words) for value, words in values.items()]
    return cases + [
        Case("JSON 100,000 deep", work(b'{"want":' + deep), [400],
             "work request"),
        Case("a list where an object is due", work(b"[]"), [400],
             "work request"),
        Case("no JSON at all", work(b"\x00\xff" * 50), [400], "work request"),
        Case("text that is no UTF-8", session(b'{"host":"\xff\xfe"}'), [400],
             "session request"),
        Case("half of a pair of surrogates",
             session(b'{"host":"\\ud800"}'), [400], "session request"),
        Case("a member twice", work(b'{"want":2,' + flat[1:]), [400],
             '"want" twice'),
        Case("a speed of 1e999",
             work(flat.replace(b'":1}', b'":1e999}')), [400],
             "a number out of range"),
        Case("a wait of -1", work(flat.replace(b'"wait":0', b'"wait":-1')),
             [400], '"wait"'),
        Case("100,000 results held", work(
            b'{"want":0,"wait":0,"device":"x","speed_flops":1,"holding":[' +
            b"1," * 100000 + b"1]}"), [400], "holding"),
    ]


def with_token(token, victim):
    """Requests with a token that is none, and with that of another host than
    the one that has the result `victim`."""
    ours = f"Authorization: Bearer {token}"
    work = b'{"want":1,"wait":0,"device":"cpu","speed_flops":1}'
    failed = (b'{"want":0,"wait":0,"device":"cpu","speed_flops":1,"failed":'
              b'[{"result":%d,"why":"not mine"}]}' % victim)
    mine = f"/v1/results/{victim}/update"
    content = "Content-Range: bytes 0-3/4"
    cases = [Case(f"token {name}", request("POST", "/v1/work", work, header),
                  [401], "needs a session") for name, header in {
                      "none": "X: y", "wrong": "Authorization: Bearer 00",
                      "long": "Authorization: Bearer " + "0" * 9000,
                      "of another scheme": ours.replace("Bearer", "Basic"),
                      "changed": ours[:-1] + ("1" if token[-1] == "0"
                                              else "0")}.items()]
    return cases + [
        Case("another's upload", request("PUT", mine, b"evil", ours, content),
             [404, 410], "not in progress at this host"),
        Case("another's report",
             request("POST", f"/v1/results/{victim}", b"x" * 300, ours),
             [403], "was not sent to this host"),
        Case("another's failure",
             request("POST", "/v1/heartbeat", failed, ours), [200], ""),
        Case("an object of nobody", get("/v1/objects/" + "0" * 64, ours),
             [404], "no result in progress needs it"),
        Case("the admin's door", request("POST", "/admin/hosts", b"{}", ours),
             [404], "no such page"),
    ]
