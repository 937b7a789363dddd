"""The review page as people use it: the real server, a real Chromium, the keyboard."""

import json
import subprocess
import threading
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect
from review_server import PEOPLE, Server, environment, eviflow

from components.config.paths import Paths
from components.storage.ledger import Ledger

pytestmark = pytest.mark.slow

Serve = Callable[..., Server]
TEN = (*PEOPLE, "--split", "test")


def enter(context: BrowserContext, link: str) -> Page:
    """Open somebody's link in a new tab; anything that goes wrong in it is kept in `page.problems`."""
    page = context.new_page()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda request: problems.extend([] if host(request.url) == host(link) else [request.url]))
    page.problems = problems  # type: ignore[attr-defined]
    page.goto(link)
    return page


def host(url: str) -> str:
    return url.split("/")[2]


def done(page: Page, count: int, total: int = 10) -> None:
    """Wait until so many are decided and the next item is in view."""
    expect(page.locator("#count")).to_have_text(f"{count} of {total} done")
    expect(page.locator("#item")).to_have_attribute("aria-busy", "false")


def shown(page: Page) -> str:
    return page.locator("#item-id").inner_text()


def saved(page: Page, choice: str) -> None:
    expect(page.locator("#message")).to_contain_text(f"Saved: {choice}")


def accept(page: Page) -> None:
    page.keyboard.press("a")


def reject(page: Page, reason: str) -> None:
    page.keyboard.press("r")
    page.keyboard.type(reason)
    page.keyboard.press("Enter")


def edit_claim(page: Page, claim: str) -> None:
    page.keyboard.press("e")
    page.keyboard.type(claim)  # the field is selected, so that typing replaces it
    page.keyboard.press("Enter")


def review_ten(page: Page, special: dict[int, Callable[[], None]]) -> list[str]:
    """Decide on ten cases, accepting all but the special ones; returns their ids in order."""
    ids: list[str] = []
    for number in range(10):
        done(page, number)
        ids.append(shown(page))
        special.get(number, lambda: accept(page))()
    done(page, 10)
    assert len(set(ids)) == 10
    return ids


def ledger(paths: Paths, name: str, queue: str = "cases") -> list[dict[str, Any]]:
    return Ledger(paths.reviews / queue / f"{name}.jsonl").read()


def test_ten_cases_are_reviewed_disputed_and_settled_by_keyboard(paths: Paths, serve: Serve, browser: Browser) -> None:
    server = serve(*TEN)
    pages = {name: enter(browser.new_context(), server.links[name]) for name in ("ada", "ben")}
    ada, ben = pages.values()
    ids = review_ten(ada, {3: lambda: edit_claim(ada, "A better claim."), 6: lambda: reject(ada, "cut off")})
    assert ids == review_ten(
        ben, {6: lambda: reject(ben, "no face"), 8: lambda: reject(ben, "the count cannot be told")}
    )

    eve = enter(browser.new_context(), server.links["eve"])
    done(eve, 0, total=2)
    assert shown(eve) == ids[3]
    expect(eve.locator(".opinions")).to_contain_text("A better claim.")
    expect(eve.locator("body")).not_to_contain_text("ada")
    expect(eve.locator("body")).not_to_contain_text("ben")
    badges = eve.locator(".opinions .pair > div > p .badge").all_inner_texts()
    eve.keyboard.press(str(badges.index("edit") + 1))
    done(eve, 1, total=2)
    assert shown(eve) == ids[8]
    reject(eve, "indeed")
    done(eve, 2, total=2)

    told = subprocess.run(
        eviflow(paths, "--status", "--split", "test"), env=environment(), capture_output=True, text=True, check=True
    )
    assert "10 (accept 7, edit 1, reject 2)" in told.stdout
    assert "2 (2 settled, 0 waiting)" in told.stdout
    assert "80.0% of 10 items; Cohen's kappa" in told.stdout
    report = json.loads((paths.metrics / "case_review.json").read_text())
    assert (report["settled"], report["open"], report["scripted"]) == (10, 0, False)
    outcomes = {item["item_id"]: item for item in Ledger(paths.reviews / "cases/outcomes.jsonl").read()}
    assert outcomes[ids[3]]["edits"] == {"claim": "A better claim."}
    assert outcomes[ids[8]]["choice"] == "reject"
    assert [page.problems for page in (ada, ben, eve)] == [[], [], []]  # type: ignore[attr-defined]


def test_two_tabs_cannot_overwrite_each_other(paths: Paths, serve: Serve, browser: Browser) -> None:
    link = serve(*TEN).links["ada"]
    context = browser.new_context()
    one, two = enter(context, link), enter(context, link)
    done(one, 0)
    done(two, 0)
    name = shown(two)
    accept(one)
    done(one, 1)
    reject(two, "from the other tab")
    expect(two.locator("#message")).to_contain_text("another tab has decided this item")
    assert shown(two) == name
    expect(two.locator("#own")).to_contain_text("accept")
    assert [record["choice"] for record in ledger(paths, "ada")] == ["accept"]
    reject(two, "on second thoughts")
    saved(two, "reject")
    assert [(record["choice"], record["revision"]) for record in ledger(paths, "ada")] == [("accept", 1), ("reject", 2)]


def test_nothing_that_was_confirmed_is_lost_when_the_server_is_killed(
    paths: Paths, serve: Serve, browser: Browser
) -> None:
    server = serve(*TEN)
    page = enter(browser.new_context(), server.links["ada"])
    done(page, 0)
    accept(page)
    done(page, 1)
    server.kill()
    accept(page)
    expect(page.locator("#message")).to_contain_text("The server does not answer")
    again = serve("--split", "test", port=server.port)
    assert "#token=" not in again.output, "links outlive a restart"
    accept(page)
    done(page, 2)
    assert len(ledger(paths, "ada")) == 2


def test_a_kill_in_the_middle_of_many_decisions_loses_none_that_was_confirmed(paths: Paths, serve: Serve) -> None:
    server = serve(*TEN)
    base, token = server.links["ada"].split("#token=")
    confirmed = 0
    killer = threading.Timer(0.4, server.kill)
    with httpx.Client(base_url=base, headers={"Authorization": f"Bearer {token}"}, trust_env=False) as client:
        item = client.get("api/queue").json()["items"][0]["item_id"]
        seen = client.get(f"api/items/{item}").json()

        def decide_on_and_on() -> None:
            nonlocal confirmed
            while True:
                draft = {"choice": "accept", "revision": confirmed, "digest": seen["digest"]}
                answer = client.post(f"api/items/{item}/decision", json=draft).raise_for_status()
                confirmed = answer.json()["revision"]

        killer.start()
        with pytest.raises(httpx.TransportError):
            decide_on_and_on()
    killer.join()
    revisions = [record["revision"] for record in ledger(paths, "ada")]
    assert confirmed > 0
    assert revisions in ([*range(1, confirmed + 1)], [*range(1, confirmed + 2)]), "the last may not have been confirmed"


def test_two_reviewers_in_one_browser_stay_two_people(paths: Paths, serve: Serve, browser: Browser) -> None:
    server = serve(*TEN)
    context = browser.new_context()
    ada, ben = enter(context, server.links["ada"]), enter(context, server.links["ben"])
    expect(ben.locator("#who")).to_have_text("ben · reviewer")
    reject(ada, "mine")
    done(ada, 1)
    done(ben, 0)
    ada.reload()
    expect(ada.locator("#who")).to_have_text("ada · reviewer")
    assert (len(ledger(paths, "ada")), len(ledger(paths, "ben"))) == (1, 0)


def test_a_token_is_in_no_file_and_no_address_and_ends_when_renewed(
    paths: Paths, serve: Serve, browser: Browser
) -> None:
    server = serve(*TEN)
    link = server.links["ada"]
    token = link.split("#token=")[1]
    page = enter(browser.new_context(), link)
    done(page, 0)
    accept(page)
    done(page, 1)
    assert token not in page.url
    assert token not in page.evaluate("document.documentElement.outerHTML + document.cookie")
    assert server.interrupt() == 130
    kept = [path for path in paths.root.rglob("*") if path.is_file() and token.encode() in path.read_bytes()]
    assert kept == []
    assert json.loads((paths.metrics / "case_review.json").read_text())["decided"]["ada"] == 1

    renewed = serve("--split", "test", "--renew", port=server.port)
    accept(page)
    expect(page.locator("#message")).to_contain_text("this link is not valid, or no longer")
    old = enter(browser.new_context(), link)
    expect(old.locator("#message")).to_contain_text("this link is not valid, or no longer")
    assert token not in renewed.output
    assert len(ledger(paths, "ada")) == 1


def test_episodes_are_reviewed_step_by_step(paths: Paths, serve: Serve, browser: Browser) -> None:
    page = enter(browser.new_context(), serve(*PEOPLE, "--episodes").links["ada"])
    done(page, 0, total=2)
    expect(page.locator(".step")).to_have_count(4)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("b")
    expect(page.locator(".step.bad.current")).to_contain_text("look 1")
    page.keyboard.press("e")
    expect(page.locator("#form")).to_be_hidden()
    reject(page, "it looked at nothing")
    done(page, 1, total=2)
    accept(page)
    done(page, 2, total=2)
    first, second = ledger(paths, "ada", "episodes")
    assert (first["choice"], first["first_bad_step"], first["comment"]) == ("reject", 1, "it looked at nothing")
    assert (second["choice"], second["first_bad_step"]) == ("accept", None)
    assert page.title() != "obeyed"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_telephone_and_obeys_no_page(serve: Serve, browser: Browser, scheme: Any) -> None:
    server = serve(*TEN)
    context = browser.new_context(viewport={"width": 360, "height": 740}, color_scheme=scheme)
    page = enter(context, server.links["ada"])
    done(page, 0)
    expect(page.locator(".where b").first).to_contain_text("<script>document.title = 'obeyed'</script><img src=x")
    assert page.title() == "ada: review of cases"
    for key in ("", "e", "Escape", "r", "Escape", "?", "Escape", "z", "+", "+"):
        if key:
            page.keyboard.press(key)
        assert page.evaluate("document.documentElement.scrollWidth") == 360
    wide = page.locator("#zoom-picture").bounding_box()
    assert wide is not None
    assert wide["width"] > 360, "the enlarged picture is larger than the screen, inside a window that scrolls"
    assert page.problems == []  # type: ignore[attr-defined]


def test_buttons_do_what_keys_do(paths: Paths, serve: Serve, browser: Browser) -> None:
    page = enter(browser.new_context(), serve(*TEN).links["ada"])
    done(page, 0)
    first = shown(page)
    page.get_by_role("button", name="Next").click()
    expect(page.locator("#item-id")).not_to_have_text(first)
    page.get_by_role("button", name="Previous").click()
    expect(page.locator("#item-id")).to_have_text(first)
    page.get_by_role("button", name="Reject").click()
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#message")).to_contain_text("say in a few words why")
    page.get_by_label("Reason").fill("too small")
    page.get_by_role("button", name="Save").click()
    done(page, 1)
    assert ledger(paths, "ada")[0]["comment"] == "too small"
