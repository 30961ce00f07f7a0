"""Keys, tokens, quotas, and how the port uses them."""

import asyncio
import json
import ssl
import subprocess
from urllib.parse import quote

import pytest
import structlog
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

import rtvoice
from rtvoice.config import ClientLimits, ServerConfig
from rtvoice.errors import ConnectionLost, InvalidInput, Overloaded, SetupError
from rtvoice.protocol.messages import Done
from rtvoice.serving.access import TOKEN_LIFETIME_S, Gate, Holder, make_key, read_keys
from rtvoice.serving.endpoint import Endpoint
from rtvoice.serving.quota import Bucket, Clients
from tests.serving.conftest import serving, talking
from tests.serving.test_endpoint import get

MULTI = "/v1/text-to-speech/af_heart/multi-stream-input?output_format=pcm_16000"


@pytest.fixture
def keyed(tmp_path):
    """A file of keys, and the keys by name."""
    made = {name: make_key(name) for name in ("alice", "bob")}
    file = tmp_path / "keys.txt"
    file.write_text("# keys\n\n" + "".join(f"{line}  # of {name}\n" for name, (_, line) in made.items()))
    return file, {name: key for name, (key, _) in made.items()}


class TestKeys:
    def test_the_file_holds_no_key(self, keyed):
        file, keys = keyed
        assert set(read_keys(file)) == {"alice", "bob"}
        assert not any(key in file.read_text() for key in keys.values())

    @pytest.mark.parametrize(
        "text", ["", "# none\n", "alice\n", "alice xyz\n", "a b c\n", f"a {'0' * 64}\na {'1' * 64}\n"]
    )
    def test_files_that_are_none(self, tmp_path, text):
        (tmp_path / "keys").write_text(text)
        with pytest.raises(SetupError):
            read_keys(tmp_path / "keys")

    def test_no_file(self, tmp_path):
        with pytest.raises(SetupError):
            read_keys(tmp_path / "nothing")

    def test_names_that_are_none(self):
        with pytest.raises(InvalidInput):
            make_key("two words")

    def test_where_keys_are_found(self, keyed):
        file, keys = keyed
        gate = Gate(read_keys(file))
        key = keys["bob"]
        for headers, query in (
            ([("xi-api-key", key)], ""),
            ([("Authorization", f"Token {key}")], ""),
            ([("authorization", f"bearer {key}")], ""),
            ([], f"api_key={key}"),
            ([], f"voice=x&xi-api-key={key}"),
        ):
            assert gate.identify(headers, query, 0.0) == Holder("bob")
        for headers, query in (
            ([], ""),
            ([("xi-api-key", "any")], ""),
            ([("Authorization", key)], ""),
            ([("Authorization", f"Basic {key}")], ""),
            ([("Cookie", key)], f"key={key}"),
        ):
            assert gate.identify(headers, query, 0.0) is None

    def test_tokens(self, keyed):
        file, _ = keyed
        gate = Gate(read_keys(file))
        token = gate.issue("alice", 1_000.0)
        assert gate.identify([], f"token={token}", 1_000.0 + TOKEN_LIFETIME_S) == Holder("alice")
        assert gate.identify([], f"token={token}", 1_001.0 + TOKEN_LIFETIME_S) is None
        bound = gate.issue("alice", 1_000.0, "https://shop.example")
        assert gate.identify([], f"token={bound}", 1_000.0) == Holder("alice", "https://shop.example")
        signature, content = token.split(".")
        for forged in (
            f"{signature}.{bound.split('.')[1]}",
            f"{signature}.{gate.issue('bob', 1_000.0).split('.')[1]}",
            f"{signature}.{gate.issue('alice', 9_999.0).split('.')[1]}",
            f"{signature}.{content[:-2]}",
            f"{signature}.",
            f".{content}",
            token[1:],
            token + "x",
            "",
            ".",
            "..",
            "ä.ö",
            "\udc80.\udc80",
        ):
            assert gate.identify([], "token=" + quote(forged, errors="surrogatepass"), 1_000.0) is None
        assert Gate(read_keys(file)).identify([], f"token={token}", 1_000.0) is None  # another process
        assert Gate({"bob": b""}, b"s").identify([], "token=" + Gate({}, b"s").issue("alice", 0.0), 0.0) is None


class TestQuota:
    def test_a_bucket_fills_again(self):
        bucket = Bucket(60)
        assert bucket.take(60, 0.0) is None
        assert bucket.take(1, 0.0) == pytest.approx(1.0)
        assert bucket.take(30, 15.0) == pytest.approx(15.0)
        assert bucket.take(30, 30.0) is None

    def test_more_than_a_minute_holds_can_be_taken_once(self):
        bucket = Bucket(60)
        assert bucket.take(120, 0.0) is None
        assert bucket.take(1, 30.0) > 30

    def test_no_limit(self):
        assert all(Bucket(None).take(10**9, 0.0) is None for _ in range(3))

    def test_connections(self):
        clients = Clients(ClientLimits(connections=2))
        one = clients.open("a")
        assert clients.open("a") is one
        assert not clients.has_room("a")
        assert clients.has_room("b")
        clients.close(one)
        assert clients.has_room("a")

    def test_clients_are_forgotten(self, monkeypatch):
        monkeypatch.setattr("rtvoice.serving.quota._MOST_CLIENTS", 3)
        clients = Clients(ClientLimits())
        kept = clients.open("kept")
        for number in range(10):
            clients.close(clients.open(str(number)))
        assert list(clients._clients) == ["kept", "8", "9"]
        assert clients.open("kept") is kept


class TestPort:
    async def test_401_at_the_handshake_and_healthz_open(self, synthesizer, keyed):
        file, keys = keyed
        async with serving(synthesizer, keys=file) as endpoint:
            host, port = endpoint.address
            for path in ("/", MULTI, "/v1/speak", "/nowhere"):
                with pytest.raises(InvalidStatus) as caught:
                    await connect(f"ws://{host}:{port}{path}", proxy=None, additional_headers={"xi-api-key": "no"})
                assert caught.value.response.status_code == 401
            assert (await get(endpoint, "/healthz"))[0] == 200
            for path, header in ((MULTI, "xi-api-key"), ("/v1/speak", "Authorization")):
                value = f"Token {keys['alice']}" if header == "Authorization" else keys["alice"]
                async with connect(f"ws://{host}:{port}{path}", proxy=None, additional_headers={header: value}):
                    pass

    async def test_a_token_for_a_browser(self, synthesizer, keyed):
        file, keys = keyed
        async with serving(synthesizer, keys=file) as endpoint:
            assert (await get(endpoint, "/token"))[0] == 401
            status, headers, body = await get(endpoint, "/token", f"Authorization: Bearer {keys['alice']}")
            assert (status, headers["Content-Type"]) == (200, "application/json")
            token = json.loads(body)["token"]
            assert (await get(endpoint, "/token", f"Authorization: Bearer {token}"))[0] == 401  # no token for a token
            host, port = endpoint.address
            async with rtvoice.connect(f"ws://{host}:{port}/?token={token}") as session:
                assert [frame async for frame in session.speak("Hello.")]

    async def test_a_token_for_the_pages_of_another_site(self, synthesizer, keyed):
        file, keys = keyed
        site = "https://shop.example"
        async with serving(synthesizer, keys=file, origins=("https://listed.example",)) as endpoint:
            url = "ws://{}:{}/".format(*endpoint.address)

            async def token(query=""):
                _, _, body = await get(endpoint, f"/token{query}", f"Authorization: Bearer {keys['alice']}")
                return json.loads(body)["token"]

            async def opens(token, origin):
                try:
                    async with rtvoice.connect(f"{url}?token={token}", origin=origin) as session:
                        return bool([frame async for frame in session.speak("Hello.")])
                except ConnectionLost as error:
                    return "403" not in str(error)

            anywhere, bound = await token(), await token("?origin=HTTPS://shop.example")
            assert await opens(bound, site)
            assert await opens(bound, None)  # no page at all
            assert not await opens(bound, "https://listed.example")
            assert not await opens(bound, "https://evil.example")
            assert await opens(anywhere, "https://listed.example")
            assert not await opens(anywhere, site)
            status, headers, _ = await get(endpoint, f"/status?token={bound}", f"Origin: {site}")
            assert (status, headers["Access-Control-Allow-Origin"]) == (200, site)

    @pytest.mark.parametrize("origin", ["", "shop.example", "https://shop.example/", "https://a%20b", "null", "*"])
    async def test_origins_that_are_none(self, synthesizer, keyed, origin):
        file, keys = keyed
        async with serving(synthesizer, keys=file) as endpoint:
            status, _, body = await get(endpoint, f"/token?origin={origin}", f"Authorization: Bearer {keys['alice']}")
            assert (status, body) == (400, b"origin must be that of a page, as https://example.org.\n")

    async def test_what_was_counted_is_told_to_holders_of_keys(self, synthesizer, keyed):
        file, keys = keyed
        async with serving(synthesizer, keys=file) as endpoint:
            assert (await get(endpoint, "/metrics"))[0] == 401
            status, _, body = await get(endpoint, "/metrics", f"Authorization: Bearer {keys['alice']}")
            assert status == 200
            assert b"rtvoice_sessions" in body
        async with serving(synthesizer) as endpoint:
            assert (await get(endpoint, "/metrics"))[0] == 200

    async def test_without_keys_there_are_no_tokens(self, synthesizer):
        async with serving(synthesizer) as endpoint:
            assert (await get(endpoint, "/token"))[0] == 404

    async def test_the_client_sends_its_key(self, synthesizer, keyed):
        file, keys = keyed
        async with serving(synthesizer, keys=file) as endpoint:
            url = "ws://{}:{}/".format(*endpoint.address)
            async with rtvoice.connect(url, key=keys["bob"]) as session:
                assert [frame async for frame in session.speak("Hello.")]
            with pytest.raises(ConnectionLost, match="key"):
                async with rtvoice.connect(url):
                    pass

    async def test_no_log_holds_a_key(self, synthesizer, keyed, capfd):
        file, keys = keyed
        with structlog.testing.capture_logs() as events:
            async with serving(synthesizer, keys=file) as endpoint:
                url = "ws://{}:{}/".format(*endpoint.address)
                async with rtvoice.connect(f"{url}?api_key={keys['bob']}", key=keys["alice"]) as session:
                    assert [frame async for frame in session.speak("Hello.")]
        written = repr(events) + "".join(capfd.readouterr())
        assert events
        assert not any(key in written for key in keys.values())

    async def test_limits_of_a_client(self, synthesizer, keyed):
        file, keys = keyed
        limits = ClientLimits(connections=1, utterances_per_minute=2, characters_per_minute=100)
        async with serving(synthesizer, keys=file, client_limits=limits) as endpoint:
            url = "ws://{}:{}/".format(*endpoint.address)
            async with rtvoice.connect(url, key=keys["alice"]) as session:
                with pytest.raises(Overloaded):
                    async with rtvoice.connect(url, key=keys["alice"]):
                        pass
                async with rtvoice.connect(url, key=keys["bob"]) as other:
                    assert [frame async for frame in other.speak("Hello.")]
                assert [frame async for frame in session.speak("a" * 90)]
                with pytest.raises(Overloaded, match="characters") as caught:
                    [frame async for frame in session.speak("b" * 60)]
                assert 20_000 < caught.value.retry_after_ms <= 31_000
                with pytest.raises(Overloaded, match="utterances"):
                    [frame async for frame in session.speak("c")]

    async def test_limits_of_those_behind_a_proxy(self, synthesizer):
        limits = ClientLimits(connections=1)
        async with serving(synthesizer, client_limits=limits, trusted_proxies=("127.0.0.1",)) as endpoint:
            url = "ws://{}:{}/".format(*endpoint.address)

            def sent_by(address):
                return connect(url, proxy=None, additional_headers={"X-Forwarded-For": address})

            async with sent_by("192.0.2.1"), sent_by("192.0.2.2"):
                with pytest.raises(InvalidStatus) as caught:
                    await sent_by("198.51.100.7, 192.0.2.1")  # whatever the client claims itself
                assert caught.value.response.status_code == 429

    async def test_no_more_than_allowed_come_in_at_once(self, synthesizer):
        async with serving(synthesizer, client_limits=ClientLimits(connections=2)) as endpoint:
            url = "ws://{}:{}/".format(*endpoint.address)

            async def heard():
                try:
                    async with rtvoice.connect(url):
                        await asyncio.sleep(0.3)
                except (Overloaded, ConnectionLost):
                    return False
                return True

            assert sum(await asyncio.gather(*(heard() for _ in range(12)))) == 2

    async def test_below_a_path(self, synthesizer, tmp_path):
        (tmp_path / "index.html").write_text("a page")
        async with serving(synthesizer, root_path="/voice/", web=tmp_path) as endpoint:
            assert (await get(endpoint, "/voice/"))[2] == b"a page"
            assert (await get(endpoint, "/voice/healthz"))[0] == 200
            assert (await get(endpoint, "/healthz"))[0] == 200
            assert (await get(endpoint, "/voicemail/healthz"))[0] == 404
            host, port = endpoint.address
            async with rtvoice.connect(f"ws://{host}:{port}/voice/") as session:
                assert [frame async for frame in session.speak("Hello.")]

    async def test_tls(self, synthesizer, tmp_path):
        chain, key = tmp_path / "chain.pem", tmp_path / "key.pem"
        made = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=localhost"
        command = [*made.split(), "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(chain)]
        await asyncio.to_thread(subprocess.run, command, check=True, capture_output=True)
        async with serving(synthesizer, certificate=chain, private_key=key) as endpoint:
            host, port = endpoint.address
            context = ssl.create_default_context(cafile=str(chain))
            async with rtvoice.connect(f"wss://{host}:{port}/", ssl=context) as session:
                utterance = session.speak("Hello.")
                assert [frame async for frame in utterance]
                assert isinstance(utterance.result, Done)
            with pytest.raises(ConnectionLost):  # nobody we know has signed it
                async with rtvoice.connect(f"wss://{host}:{port}/"):
                    pass

    async def test_a_certificate_that_is_none(self, synthesizer, tmp_path):
        (tmp_path / "chain.pem").write_text("no")
        with pytest.raises(SetupError, match="certificate"):
            await Endpoint(ServerConfig(port=0, certificate=tmp_path / "chain.pem"), synthesizer).__aenter__()


async def test_what_there_is_not_is_refused_at_the_handshake(synthesizer):
    async with serving(synthesizer) as endpoint:
        host, port = endpoint.address
        for path, says in ((MULTI.replace("af_heart", "x"), "af_heart"), ("/v1/speak?encoding=mp9", "linear16")):
            with pytest.raises(InvalidStatus) as caught:
                await connect(f"ws://{host}:{port}{path}", proxy=None)
            assert caught.value.response.status_code == 400
            assert says in caught.value.response.body.decode()
        async with talking(endpoint):
            pass


@pytest.mark.parametrize(
    "path", [MULTI.replace("af_heart", "af_heart+bm_george"), "/v1/speak?model=af_heart%2Bbm_george"]
)
async def test_a_blend_that_is_not_spoken_is_refused_at_the_handshake(path, synthesizer, monkeypatch):
    def check(options):
        if "+" in options.voice:
            raise InvalidInput("Nothing was fitted to it.", field="voice", allowed=("af_heart",))

    monkeypatch.setattr(synthesizer, "check", check)
    async with serving(synthesizer) as endpoint:
        host, port = endpoint.address
        with pytest.raises(InvalidStatus) as caught:
            await connect(f"ws://{host}:{port}{path}", proxy=None)
        assert caught.value.response.status_code == 400
        assert caught.value.response.body == b"Nothing was fitted to it. Allowed: af_heart.\n"
