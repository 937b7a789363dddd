import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest
from review_samples import HOSTILE, PANEL, case_id

from components.config.paths import Paths
from components.records.image_bank import ImageBank
from components.review.app import COOKIE, ReviewApp
from components.review.decisions import Queue
from components.review.desk import Desk
from components.review.episode_items import episode_items
from components.review.panel import Gate

ITEM = case_id(1)
ADA_ITEM = f"/cases/ada/api/items/{ITEM}"


class Site:
    """The application and everybody's token."""

    def __init__(self, paths: Paths, desk: Desk, queue: Queue = Queue.CASES) -> None:
        self.gate = Gate(paths.work / f"{queue.value}-tokens.json", PANEL)
        self.tokens = self.gate.issue()
        bank = ImageBank(paths.candidates, also=[paths.web])
        self._app = ReviewApp(queue, desk, self.gate, bank).build()

    def ask(self, path: str, token: str | None = None, json: object = None, **options: Any) -> httpx.Response:
        headers = {"Authorization": f"Bearer {token}"} if token is not None else {}
        method = "GET" if json is None else "POST"

        async def once(client: httpx.AsyncClient) -> httpx.Response:
            return await client.request(method, path, headers=headers, json=json, **options)

        return self.run(once)

    def run(self, work: Callable[[httpx.AsyncClient], Awaitable[httpx.Response]]) -> httpx.Response:
        async def run() -> httpx.Response:
            transport = httpx.ASGITransport(self._app)
            async with httpx.AsyncClient(transport=transport, base_url="http://review.test") as client:
                return await work(client)

        return asyncio.run(run())

    def decide(self, name: str, choice: str, item_id: str = ITEM, **other: object) -> httpx.Response:
        path = f"/cases/{name}/api/items/{item_id}"
        seen = self.ask(path, self.tokens[name]).json()
        draft = {"choice": choice, "comment": "why", **{key: seen[key] for key in ("revision", "digest", "upon")}}
        return self.ask(f"{path}/decision", self.tokens[name], json=draft | other)


@pytest.fixture
def site(paths: Paths, desk: Desk) -> Site:
    return Site(paths, desk)


EVERYTHING = ["api/queue", f"api/items/{ITEM}", f"api/items/{ITEM}/pictures/{'0' * 64}"]


@pytest.mark.parametrize("path", EVERYTHING)
def test_a_forged_stale_or_missing_token_gets_401(site: Site, path: str) -> None:
    stale = site.tokens["ada"]
    site.gate.issue(renew=True)
    for token in (None, "", "x", stale, site.tokens["ben"]):
        answer = site.ask(f"/cases/ada/{path}", token)
        assert answer.status_code == 401
        assert "error" in answer.json()
        assert ITEM not in answer.text


def test_nobody_signs_in_or_decides_without_their_token(site: Site) -> None:
    for path in ("api/session", f"api/items/{ITEM}/decision"):
        assert site.ask(f"/cases/ada/{path}", site.tokens["ben"], json={}).status_code == 401
        assert site.ask(f"/cases/zoe/{path}", site.tokens["ada"], json={}).status_code == 401


def test_the_cookie_is_closed_to_scripts_other_sites_and_other_reviewers(site: Site) -> None:
    answer = site.ask("/cases/ada/api/session", site.tokens["ada"], json={})
    cookie = answer.headers["set-cookie"].lower()
    assert all(part in cookie for part in ("httponly", "samesite=strict", "path=/cases/ada/"))

    async def with_cookie(client: httpx.AsyncClient) -> httpx.Response:
        return await client.get("/cases/ada/api/queue", headers={"Cookie": f"{COOKIE}={site.tokens['ada']}"})

    assert site.run(with_cookie).json()["name"] == "ada"


def test_the_page_is_the_same_for_everybody_and_needs_nothing_from_elsewhere(site: Site) -> None:
    page = site.ask("/cases/ada/")
    assert page.status_code == 200
    assert page.text == site.ask("/cases/nobody/").text
    assert set(re.findall(r'(?:src|href)="([^"]+)"', page.text)) == {
        "/static/icon.svg",
        "/static/review.css",
        "/static/review.js",
        "/static/controls.js",
    }
    for name in ("icon.svg", "review.css", "review.js", "controls.js"):
        file = site.ask(f"/static/{name}")
        assert file.status_code == 200
        assert not re.search(r"(?<!www\.w3\.org)https?://(?!www\.w3\.org)", file.text)
    assert page.headers["content-security-policy"].startswith("default-src 'self'")


@pytest.mark.parametrize("path", ["/", "/cases/ada", "/cases/ada/", "/static/review.css", "/cases/ada/api/queue"])
def test_every_answer_has_the_headers_that_keep_it_safe(site: Site, path: str) -> None:
    headers = site.ask(path).headers
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"


def test_an_item_shows_everything_side_by_side(site: Site) -> None:
    html = site.ask(ADA_ITEM, site.tokens["ada"]).json()["html"]
    for text in (
        "Harvest Gala 1 was held at Rowan Hall.",
        "temporal displacement",
        "The picture shows the date 12 March 2031; the record says 14 March 2031.",
        "<mark>Harvest Gala was held on 14 March 2031 at Rowan Hall.</mark>",
        "https://gala-1.example/2031",
        "refutes date",
        "supports venue",
    ):
        assert text in html


def test_what_pages_say_is_shown_and_not_obeyed(site: Site, paths: Paths) -> None:
    shown = "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &amp; {{ 7 * 7 }}"
    html = site.ask(ADA_ITEM, site.tokens["ada"]).json()["html"]
    assert html.count(shown) >= 3, "as a title, in a caption and in the text of the page"
    assert "<script" not in html

    items = episode_items(paths)
    episodes = Site(paths, Desk(PANEL, items, paths.reviews / "episodes"), Queue.EPISODES)
    path = f"/episodes/ada/api/items/{items[0].item_id}"
    html = episodes.ask(path, episodes.tokens["ada"]).json()["html"]
    assert html.count(shown) >= 3, "as a thought, an observation and an explanation"
    assert "<script" not in html
    assert "<b>3</b> report" in html
    assert HOSTILE not in html


def test_pictures_are_those_of_the_item(site: Site, desk: Desk) -> None:
    for digest in desk.items[ITEM].pictures:
        answer = site.ask(f"{ADA_ITEM}/pictures/{digest}", site.tokens["ada"])
        assert (answer.status_code, answer.headers["content-type"]) == (200, "image/png")
        assert answer.content.startswith(b"\x89PNG")
    other = next(iter(desk.items[case_id(2)].pictures - desk.items[ITEM].pictures))
    for digest in (other, "0" * 64, "..%2f..%2fparams.yaml"):
        assert site.ask(f"{ADA_ITEM}/pictures/{digest}", site.tokens["ada"]).status_code == 404


def test_a_decision_upon_an_old_state_gets_409(site: Site) -> None:
    seen = site.ask(ADA_ITEM, site.tokens["ada"]).json()
    assert site.decide("ada", "accept").status_code == 201
    late = {"choice": "reject", "comment": "x", **{key: seen[key] for key in ("revision", "digest", "upon")}}
    answer = site.ask(f"{ADA_ITEM}/decision", site.tokens["ada"], json=late)
    assert answer.status_code == 409
    assert "another tab has decided" in answer.json()["error"]
    assert site.ask(ADA_ITEM, site.tokens["ada"]).json()["own"]["choice"] == "accept"


@pytest.mark.parametrize(
    "body", [{}, {"choice": "perhaps"}, {"revision": -1}, {"edits": {"claim": "x" * 2001}}, {"more": 1}, []]
)
def test_an_ill_formed_decision_gets_422(site: Site, body: object) -> None:
    answer = site.ask(f"{ADA_ITEM}/decision", site.tokens["ada"], json=body)
    assert answer.status_code == 422
    assert "error" in answer.json()


def test_a_huge_body_and_a_form_are_refused(site: Site) -> None:
    token = site.tokens["ada"]
    assert site.ask(f"{ADA_ITEM}/decision", token, json={"comment": "x" * 70_000}).status_code == 413

    async def form(client: httpx.AsyncClient) -> httpx.Response:
        headers = {"Authorization": f"Bearer {token}"}
        return await client.post(f"{ADA_ITEM}/decision", data={"choice": "accept"}, headers=headers)

    assert site.run(form).status_code == 415


def test_a_reviewer_gets_nothing_of_the_other(site: Site) -> None:
    empty = [site.ask(f"/cases/ben/{path}", site.tokens["ben"]).text for path in EVERYTHING]
    assert site.decide("ada", "reject", comment="secret reason").status_code == 201
    assert [site.ask(f"/cases/ben/{path}", site.tokens["ben"]).text for path in EVERYTHING] == empty


def test_the_adjudicator_gets_the_disputed_items_without_names(site: Site) -> None:
    site.decide("ada", "reject", comment="too dark")
    assert site.ask("/cases/eve/api/queue", site.tokens["eve"]).json()["items"] == []
    assert site.ask(f"/cases/eve/api/items/{ITEM}", site.tokens["eve"]).status_code == 404
    site.decide("ben", "edit", edits={"claim": "better"})
    rows = site.ask("/cases/eve/api/queue", site.tokens["eve"]).json()["items"]
    assert [row["item_id"] for row in rows] == [ITEM]
    answer = site.ask(f"/cases/eve/api/items/{ITEM}", site.tokens["eve"])
    assert {opinion["choice"] for opinion in answer.json()["opinions"]} == {"reject", "edit"}
    assert "too dark" in answer.json()["html"]
    assert "better" in answer.json()["html"]
    assert not re.search(r"\b(ada|ben)\b", answer.text)
    assert site.decide("eve", "reject").status_code == 201
