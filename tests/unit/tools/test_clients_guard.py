"""Which addresses are connected to, and that the one that was checked is the one that is used."""

import asyncio
import datetime
import ssl
from collections.abc import Awaitable, Callable
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from components.tools.clients.addresses import check_url, is_public, resolve
from components.tools.clients.errors import NotThere, OffLimits, ServiceError
from components.tools.clients.fetch import Fetched, FetchLimits, PageFetcher
from components.tools.clients.guard import GuardedTransport

HERE = "127.0.0.1"


def names(**found: str | list[str]) -> Callable[[str, int], Awaitable[list[str]]]:
    """A name service that knows these hosts, by the first label of their name."""

    async def look_up(host: str, port: int) -> list[str]:
        answer = found[host.partition(".")[0]]
        return [answer] if isinstance(answer, str) else answer

    return look_up


def fetch(url: str, transport: httpx.AsyncBaseTransport) -> Fetched:
    async def go() -> Fetched:
        async with PageFetcher(transport, FetchLimits(timeout_s=5)) as fetcher:
            return await fetcher.fetch(url)

    return asyncio.run(go())


@pytest.mark.parametrize("address", ["8.8.8.8", "93.184.216.34", "1.1.1.1", "2606:4700:4700::1111", "2a00:1450::1"])
def test_the_public_web_is_open(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.255.0.1", "0.0.0.0", "0.1.2.3", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1",
        "169.254.169.254", "169.254.170.2", "100.64.0.1", "100.100.100.200", "192.0.0.192", "192.0.2.1", "198.18.0.1",
        "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255", "168.63.129.16",
        "192.88.99.1", "::", "::1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::127.0.0.1", "64:ff9b::7f00:1",
        "64:ff9b:1::1", "fe80::1", "fe80::1%eth0", "2606:4700::1%eth0", "fc00::1", "fd00:ec2::254", "ff02::1",
        "2001::1", "2002:7f00:1::", "2001:db8::1", "100::1", "5f00::1", "3fff::1", "", "localhost", "127.1",
    ],
)  # fmt: skip
def test_everything_else_is_closed(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "url",
    [
        "ftp://a.example/", "file:///etc/passwd", "gopher://a.example/", "http://user:word@a.example/", "http:///x",
        "http://2130706433/", "http://0x7f000001/", "http://0x7f.0.0.1/", "http://017700000001/", "http://0177.0.0.1/",
        "http://127.1/", "http://127.0.1/", "http://0/", "http://134744072/", "http://8.8.8.8./", "http://8.8.2056/",
        "http://1.2.3.4.5/", "http://0X7F.1/", "http://a.0x7f/",
    ],
)  # fmt: skip
def test_addresses_in_disguise_are_refused_before_anything_is_looked_up(url: str) -> None:
    with pytest.raises(OffLimits):
        fetch(url, GuardedTransport(resolve=names()))


@pytest.mark.parametrize(
    "url", ["http://a.example/", "https://8.8.8.8/", "http://[2606:4700::1]/", "http://4chan.org/"]
)
def test_ordinary_addresses_pass(url: str) -> None:
    check_url(httpx.URL(url))


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/", "http://127.0.0.1:{port}/", "http://localhost:{port}/", "http://[::1]:{port}/",
        "http://[::ffff:127.0.0.1]:{port}/", "http://①②⑦.0.0.1:{port}/", "http://127。0。0。1:{port}/",
        "http://0.0.0.0:{port}/", "http://169.254.169.254/latest/meta-data", "http://10.0.0.1/", "http://2130706433/",
    ],
)  # fmt: skip
def test_a_server_on_this_machine_is_never_reached(httpserver: HTTPServer, url: str) -> None:
    with pytest.raises(OffLimits):
        fetch(url.format(port=httpserver.port), GuardedTransport(ports={80, httpserver.port}))
    assert not httpserver.log


def test_one_address_that_is_not_public_closes_a_host() -> None:
    guard = GuardedTransport(resolve=names(both=["8.8.8.8", HERE]))
    with pytest.raises(OffLimits, match=r"both\.example is not on the public web"):
        fetch("http://both.example/", guard)


@pytest.mark.parametrize("port", [22, 6379, 8080])
def test_other_ports_are_not_opened(port: int) -> None:
    with pytest.raises(OffLimits, match=f"port {port}"):
        fetch(f"http://a.example:{port}/", GuardedTransport(resolve=names(a="8.8.8.8")))


def test_what_is_allowed_is_one_address_at_one_port(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/x").respond_with_data("page", content_type="text/html")
    allowed = {(HERE, httpserver.port)}
    assert fetch(f"http://{HERE}:{httpserver.port}/x", GuardedTransport(allowed=allowed)).body == b"page"
    with pytest.raises(OffLimits):
        fetch(f"http://{HERE}:{httpserver.port + 1}/x", GuardedTransport(allowed=allowed))


def test_a_name_is_looked_up_once_and_the_connection_goes_to_what_was_checked(httpserver: HTTPServer) -> None:
    """A name server that answers differently the second time gets no second time."""
    answers = [[HERE], ["10.0.0.1"]]

    async def rebinding(host: str, port: int) -> list[str]:
        return answers.pop(0)

    httpserver.expect_request("/").respond_with_data("page", content_type="text/html")
    guard = GuardedTransport(resolve=rebinding, allowed={(HERE, httpserver.port)})
    assert fetch(f"http://pages.example:{httpserver.port}/", guard).body == b"page"
    assert len(answers) == 1
    assert httpserver.log[0][0].headers["Host"] == f"pages.example:{httpserver.port}"


@pytest.mark.parametrize(
    "aim",
    [
        "http://169.254.169.254/latest/meta-data", "http://127.0.0.1:1/", "http://inner.example/", "file:///etc/passwd",
        "http://[::1]/", "//2130706433/", "http://0x7f.1/", "https://inner.example:443/", "gopher://outer.example/",
    ],
)  # fmt: skip
def test_every_redirect_is_checked_anew(httpserver: HTTPServer, aim: str) -> None:
    httpserver.expect_request("/").respond_with_data("", status=302, headers={"Location": aim})
    guard = GuardedTransport(resolve=names(outer=HERE, inner="10.0.0.1"), allowed={(HERE, httpserver.port)})
    with pytest.raises(OffLimits):
        fetch(f"http://outer.example:{httpserver.port}/", _literal(guard, httpserver.port))
    assert len(httpserver.log) == 1


def _literal(guard: GuardedTransport, port: int) -> GuardedTransport:
    """The same guard, whose name service also knows addresses, as the system's does."""
    known = guard._resolve

    async def look_up(host: str, number: int) -> list[str]:
        return await (known if host.endswith("example") else resolve)(host, number)

    return GuardedTransport(resolve=look_up, allowed={(HERE, port)})


def test_a_redirect_keeps_its_name_and_no_cookie(httpserver: HTTPServer) -> None:
    aim = f"http://second.example:{httpserver.port}/b"
    httpserver.expect_request("/a").respond_with_data("", 302, {"Location": aim, "Set-Cookie": "who=you; Path=/"})
    httpserver.expect_request("/b").respond_with_data("page", content_type="text/html")
    guard = GuardedTransport(resolve=names(first=HERE, second=HERE), allowed={(HERE, httpserver.port)})
    page = fetch(f"http://first.example:{httpserver.port}/a", guard)
    assert page.url == aim
    hosts = [request.headers["Host"].partition(":")[0] for request, _ in httpserver.log]
    assert hosts == ["first.example", "second.example"]
    assert not [request for request, _ in httpserver.log if "Cookie" in request.headers]


def test_a_host_that_does_not_exist_is_missing_and_a_dead_one_an_outage() -> None:
    with pytest.raises(NotThere):
        fetch("http://nowhere.invalid/", GuardedTransport(resolve=_missing))
    with pytest.raises(ServiceError, match="no connection"):
        fetch("http://dead.example:9/", GuardedTransport(resolve=names(dead=HERE), allowed={(HERE, 9)}))


async def _missing(host: str, port: int) -> list[str]:
    raise NotThere(host)


def test_the_next_address_is_tried_when_one_does_not_answer(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/").respond_with_data("page", content_type="text/html")
    allowed = {(HERE, httpserver.port), ("127.0.0.2", httpserver.port)}
    guard = GuardedTransport(resolve=names(a=["127.0.0.2", HERE]), allowed=allowed)
    assert fetch(f"http://a.example:{httpserver.port}/", guard).body == b"page"


# Certificates.


def _certificate(folder: Path, name: str) -> ssl.SSLContext:
    """A server's side of TLS for `name`, signed by itself; `folder/cert.pem` is what clients have to trust."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.datetime.now(datetime.UTC)
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    certificate = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    (folder / "cert.pem").write_bytes(certificate.public_bytes(pem))
    plain = (serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "key.pem").write_bytes(key.private_bytes(pem, *plain))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    return context


def test_the_certificate_must_be_the_names_although_the_connection_goes_to_an_address(tmp_path: Path) -> None:
    asked: list[str | None] = []
    context = _certificate(tmp_path, "pages.example")
    context.sni_callback = lambda connection, name, _: asked.append(name)
    trusting = ssl.create_default_context(cafile=str(tmp_path / "cert.pem"))
    with HTTPServer(host=HERE, port=0, ssl_context=context) as server:
        server.expect_request("/").respond_with_handler(lambda _: Response("page", content_type="text/html"))
        allowed = {(HERE, server.port)}

        def guard() -> GuardedTransport:
            inner = httpx.AsyncHTTPTransport(verify=trusting, limits=httpx.Limits(max_keepalive_connections=0))
            return GuardedTransport(inner, resolve=names(pages=HERE, other=HERE), allowed=allowed)

        assert fetch(f"https://pages.example:{server.port}/", guard()).body == b"page"
        with pytest.raises(ServiceError, match="no connection"):
            fetch(f"https://other.example:{server.port}/", guard())
        with pytest.raises(ServiceError, match="no connection"):
            fetch(f"https://pages.example:{server.port}/", GuardedTransport(resolve=names(pages=HERE), allowed=allowed))
    assert asked[:2] == ["pages.example", "other.example"]


def test_headers_tell_servers_nothing_of_this_machine(httpserver: HTTPServer) -> None:
    seen: list[dict[str, str]] = []

    def answer(request: Request) -> Response:
        seen.append(dict(request.headers))
        return Response("page", content_type="text/html")

    httpserver.expect_request("/").respond_with_handler(answer)
    fetch(f"http://{HERE}:{httpserver.port}/", GuardedTransport(allowed={(HERE, httpserver.port)}))
    assert set(seen[0]) == {"Host", "Accept", "Accept-Encoding", "Connection", "User-Agent"}
