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
