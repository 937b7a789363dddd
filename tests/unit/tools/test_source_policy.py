import pytest

from components.tools.source_policy import MARKERS, SourcePolicy

POLICY = SourcePolicy()


@pytest.mark.parametrize("marker", MARKERS)
def test_every_marker_blocks_a_host_that_contains_it(marker: str) -> None:
    assert POLICY.blocks_url(f"https://www.{marker}.example/page")
    assert POLICY.blocks_url(f"https://{marker.upper()}.EXAMPLE/page")


@pytest.mark.parametrize(
    "url",
    [
        "https://web.archive.org/web/20310101000000/https://www.snopes.com/x",
        "https://web.archive.org/web/2031/http:/snopes.com/x",
        "https://archive.example/?url=https%3A%2F%2Fwww.snopes.com%2Fx",
        "https://archive.example/?url=https%253A%252F%252Fsnopes.com",
        "https://i0.wp.com/www.snopes.com/picture.png?w=300",
        "https://i2.wp.com/politifact.com/a.png",
        "https://r.jina.ai/https://factcheck-desk.example/gala",
        "https://a.example/https://b.example/https://snopes.com/",
        "https://reader@snopes.com/x",
        "snopes.com/x",
        "//snopes.com/x",
    ],
)
def test_wrapped_addresses_are_opened(url: str) -> None:
    assert POLICY.blocks_url(url)


@pytest.mark.parametrize(
    "url",
    [
        "https://harvest-gala.example/2031",
        "https://news.example/what-snopes-says",
        "https://i0.wp.com/harvest.example/p.png",
        "https://web.archive.org/web/2031/https://harvest-gala.example/",
        "https://[broken",
        "",
    ],
)
def test_other_addresses_pass(url: str) -> None:
    assert not POLICY.blocks_url(url)


@pytest.mark.parametrize(
    "text",
    ["snopes harvest gala", "Harvest Gala FACT CHECK", "fact-check gala", "factchecked", "site:politifact.com x"],
)
def test_naming_a_blocked_site_counts(text: str) -> None:
    assert POLICY.blocks_text(text)


@pytest.mark.parametrize("text", ["harvest gala", "an artifact checked twice", "you turn left", "satisfactly"])
def test_other_words_pass(text: str) -> None:
    assert not POLICY.blocks_text(text)


def test_the_policy_names_itself() -> None:
    assert POLICY.digest != SourcePolicy(("snopes",)).digest
    assert len(POLICY.digest) == 16


POST, PICTURE = "https://chirp.example/Night-Owl/17", "https://chirp.example/Night-Owl/17/picture.png"
EXCLUDING = SourcePolicy(excluded=frozenset({POST, PICTURE}))


@pytest.mark.parametrize(
    "url",
    [
        POST,
        PICTURE,
        "http://CHIRP.example/Night-Owl/17/",
        "https://chirp.example:443/Night-Owl/17",
        "https://chirp.example./Night-Owl/17?from=feed#top",
        "https://me@chirp.example/Night-Owl/17",
        "//chirp.example/Night-Owl/17",
        "https://chirp.example/Night%2DOwl/17",
        "https://web.archive.org/web/20310101000000/https://chirp.example/Night-Owl/17",
        "https://web.archive.org/web/2031im_/http:/chirp.example/Night-Owl/17/picture.png",
        "https://archive.example/?url=https%3A%2F%2Fchirp.example%2FNight-Owl%2F17&from=2031",
        "https://archive.example/?url=https%253A%252F%252Fchirp.example%252FNight-Owl%252F17",
        "https://i0.wp.com/chirp.example/Night-Owl/17/picture.png?w=300",
        "https://r.jina.ai/https://chirp.example/Night-Owl/17",
    ],
)
def test_an_excluded_address_is_known_in_every_wrapping(url: str) -> None:
    assert EXCLUDING.blocks_url(url)
    assert not POLICY.blocks_url(url)


@pytest.mark.parametrize(
    "url",
    [
        "https://chirp.example/",
        "https://chirp.example/Night-Owl/170",
        "https://chirp.example/Night-Owl/17/other.png",
        "https://chirp.example/night-owl/17",
        "https://notchirp.example/Night-Owl/17",
        "https://chirp.example.org/Night-Owl/17",
        "https://i0.wp.com/chirp.example/Night-Owl/18.png",
    ],
)
def test_its_neighbours_stay_open(url: str) -> None:
    assert not EXCLUDING.blocks_url(url)


def test_a_text_with_an_excluded_address_counts() -> None:
    assert EXCLUDING.blocks_text(f"what does {POST} show")
    assert not EXCLUDING.blocks_text("what does chirp.example show")


def test_what_is_excluded_changes_the_name() -> None:
    assert len({POLICY.digest, EXCLUDING.digest, SourcePolicy(excluded=frozenset({POST})).digest}) == 3
