"""What the port answers to plain requests."""

import pytest

from rtvoice.serving.http import Site, StaticFiles


@pytest.fixture
def folder(tmp_path):
    web = tmp_path / "web"
    (web / "sub").mkdir(parents=True)
    (web / "index.html").write_text("<!doctype html>")
    (web / "app.js").write_text("export {}")
    (web / "sub" / "index.html").write_text("below")
    (web / "notes.unknown").write_text("not for browsers")
    (web / ".hidden").write_text("hidden")
    (tmp_path / "secret.txt").write_text("secret")
    (web / "link.txt").symlink_to(tmp_path / "secret.txt")
    return web


@pytest.fixture
def site(folder):
    return Site(StaticFiles(folder), lambda: None)


@pytest.mark.parametrize(
    ("path", "body", "media_type"),
    [
        ("/", b"<!doctype html>", "text/html; charset=utf-8"),
        ("/index.html", b"<!doctype html>", "text/html; charset=utf-8"),
        ("/app.js", b"export {}", "text/javascript; charset=utf-8"),
        ("/%61pp.js", b"export {}", "text/javascript; charset=utf-8"),
        ("/sub/", b"below", "text/html; charset=utf-8"),
    ],
)
def test_files(site, path, body, media_type):
    answer = site.answer(path)
    assert (answer.status, answer.body, answer.headers["Content-Type"]) == (200, body, media_type)


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/../secret.txt",
        "/%2e%2e/secret.txt",
        "/..%2fsecret.txt",
        "//etc/passwd",
        "/sub/../../secret.txt",
        "/link.txt",
        "/notes.unknown",
        "/.hidden",
        "/app.js%00",
        "/sub",
        "/missing",
        "/%ff",
    ],
)
def test_what_is_not_there(site, path):
    answer = site.answer(path)
    if path == "":
        assert answer.status == 200  # some clients ask for nothing at all when they mean the root
    else:
        assert answer.status == 404
        assert b"secret" not in answer.body


@pytest.mark.parametrize("path", ["/", "/missing", "/healthz", "/readyz"])
def test_every_answer_is_strict(site, path):
    headers = site.answer(path).headers
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert "unsafe" not in headers["Content-Security-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"


def test_a_file_the_browser_has_is_not_sent_again(site):
    tag = site.answer("/app.js").headers["ETag"]
    answer = site.answer("/app.js", tag)
    assert (answer.status, answer.body) == (304, b"")
    assert site.answer("/app.js", '"other"').status == 200


def test_health_and_readiness():
    retry_after_s = None
    site = Site(StaticFiles(None), lambda: retry_after_s)
    assert site.answer("/healthz").status == 200
    assert site.answer("/readyz").status == 200
    retry_after_s = 2.3
    assert site.answer("/healthz").status == 200
    refused = site.answer("/readyz")
    assert (refused.status, refused.headers["Retry-After"]) == (503, "3")


@pytest.mark.parametrize("retry_after_s", [None, 2.3])
def test_pages_of_any_origin_may_read_whether_there_is_room(retry_after_s):
    headers = Site(StaticFiles(None), lambda: retry_after_s).answer("/readyz").headers
    assert headers["Access-Control-Allow-Origin"] == "*"
    assert headers["Access-Control-Expose-Headers"] == "Retry-After"


def test_metrics_are_told_where_there_are_any():
    answer = Site(StaticFiles(None), lambda: None, lambda: b"up 1\n").answer("/metrics")
    assert (answer.status, answer.body) == (200, b"up 1\n")
    assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    assert Site(StaticFiles(None), lambda: None).answer("/metrics").status == 404


def test_without_a_page():
    assert Site(StaticFiles(None), lambda: None).answer("/").status == 404
