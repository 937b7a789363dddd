import base64
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from components.records.image_bank import sha256_hex
from components.world.app import WorldApp
from components.world.vendors.jina import RateLimit

Ask = Callable[..., httpx.Response]
SERPER = "https://google.serper.dev"
KEY = {"X-API-KEY": "any"}
READER = {"Authorization": "Bearer any", "Accept": "application/json"}
BAIDU = "https://aip.baidubce.com"


def test_web_search_answers_as_serper_does(ask: Ask) -> None:
    answer = ask("POST", f"{SERPER}/search", headers=KEY, json={"q": "Harvest Gala Rowan", "num": 2}).json()
    assert answer["searchParameters"] == {"q": "Harvest Gala Rowan", "num": 2, "type": "search", "engine": "google"}
    assert answer["credits"] == 1
    assert [row["position"] for row in answer["organic"]] == [1, 2]
    first = answer["organic"][0]
    assert first.keys() == {"title", "link", "snippet", "date", "position"}
    assert first["link"] == "https://harvest-gala.example/2031"
    assert first["date"] == "Mar 12, 2031"
    assert "Rowan Hall" in first["snippet"]


def test_a_search_without_matches_is_an_empty_list(ask: Ask) -> None:
    assert ask("POST", f"{SERPER}/search", headers=KEY, json={"q": "zebra"}).json()["organic"] == []
    assert ask("POST", f"{SERPER}/search", headers=KEY, json={"q": "the of and"}).json()["organic"] == []
    assert ask("POST", f"{SERPER}/images", headers=KEY, json={"q": "zebra"}).json()["images"] == []


def test_image_search_answers_as_serper_does(ask: Ask) -> None:
    answer = ask("POST", f"{SERPER}/images", headers=KEY, json={"q": "gala picture 7"}).json()
    first = answer["images"][0]
    assert first.keys() == {
        "title", "imageUrl", "imageWidth", "imageHeight", "thumbnailUrl", "thumbnailWidth", "thumbnailHeight", "source",
        "domain", "link", "googleUrl", "position",
    }  # fmt: skip
    assert first["imageUrl"] == "https://harvest-gala.example/7.png"
    assert first["link"] == "https://harvest-gala.example/2030"


@pytest.mark.parametrize("path", ["/search", "/images", "/lens"])
def test_serper_refuses_as_serper_does(ask: Ask, path: str) -> None:
    body = {"q": "gala", "url": "https://harvest-gala.example/1.png"}
    missing = ask("POST", f"{SERPER}{path}", json=body)
    assert (missing.status_code, missing.json()) == (403, {"message": "Unauthorized.", "statusCode": 403})
    for bad in ({"content": b"{"}, {"json": []}, {"json": {"q": "", "url": " "}}, {"json": {"q": 1, "url": 2}}):
        answer = ask("POST", f"{SERPER}{path}", headers=KEY, **bad)
        assert answer.status_code == answer.json()["statusCode"] == 400
    assert ask("GET", f"{SERPER}{path}", headers=KEY).status_code == 405


def lens(ask: Ask, picture: bytes) -> list[dict[str, Any]]:
    url = f"https://uploads.example/{sha256_hex(picture)}.png"
    assert ask("PUT", url, content=picture).status_code == 201
    assert ask("GET", url).content == picture
    rows: list[dict[str, Any]] = ask("POST", f"{SERPER}/lens", headers=KEY, json={"url": url}).json()["organic"]
    return rows


def test_a_picture_is_found_by_its_looks_on_another_ground(ask: Ask, drawn: Callable[..., bytes]) -> None:
    rows = lens(ask, drawn(3, (60, 66, 80), shift=2))
    assert rows[0] == {
        "title": "Harvest Gala 2030",
        "source": "harvest-gala.example",
        "link": "https://harvest-gala.example/2030",
        "imageUrl": "https://harvest-gala.example/3.png",
        "thumbnailUrl": "https://harvest-gala.example/3.png",
    }
    assert len(rows) <= 10


def test_a_picture_like_no_other_finds_nothing(ask: Ask, drawn: Callable[..., bytes]) -> None:
    assert lens(ask, drawn(0, shapes=0)) == []


def test_lens_needs_a_picture_it_can_fetch(ask: Ask) -> None:
    for url in ("https://uploads.example/0000.png", "https://elsewhere.example/x.png", "nonsense"):
        answer = ask("POST", f"{SERPER}/lens", headers=KEY, json={"url": url})
        assert (answer.status_code, answer.json()["message"]) == (400, "Could not fetch the image.")


def test_an_upload_must_carry_its_own_hash(ask: Ask) -> None:
    assert ask("PUT", "https://uploads.example/0123.png", content=b"data").status_code == 400
    assert ask("GET", "https://uploads.example/0123.png").status_code == 404


def test_uploads_that_are_no_pictures_cannot_be_searched(ask: Ask) -> None:
    url = f"https://uploads.example/{sha256_hex(b'text')}.png"
    assert ask("PUT", url, content=b"text").status_code == 201
    assert ask("POST", f"{SERPER}/lens", headers=KEY, json={"url": url}).status_code == 400


def test_the_page_reader_answers_as_jina_does(ask: Ask) -> None:
    headers = {**READER, "X-With-Images-Summary": "true"}
    answer = ask("GET", "https://r.jina.ai/https://harvest-gala.example/2031", headers=headers).json()
    assert answer["code"] == 200
    assert answer["status"] == 20000
    data = answer["data"]
    assert (data["title"], data["url"]) == ("Harvest Gala 2031", "https://harvest-gala.example/2031")
    assert "Rowan Hall" in data["content"]
    assert data["images"]["Image 1: Harvest Gala picture 0"] == "https://harvest-gala.example/0.png"
    assert data["usage"] == answer["meta"]["usage"]


def test_the_page_reader_speaks_text_to_who_does_not_ask_for_json(ask: Ask) -> None:
    headers = {"Authorization": "Bearer any"}
    text = ask("GET", "https://r.jina.ai/https://soup.example/1?part=2", headers=headers).text
    assert text.startswith(
        "Title: Autumn soup\n\nURL Source: https://soup.example/1?part=2\n\nPublished Time: 2031-03-12"
    )
    assert text.endswith("Markdown Content:\n# Autumn soup\n\nPeel the pumpkin.")


def test_a_missing_page_is_a_warning_and_no_error(ask: Ask) -> None:
    answer = ask("GET", "https://r.jina.ai/https://harvest-gala.example/1999", headers=READER)
    assert answer.status_code == 200
    assert answer.json()["data"]["warning"] == "Target URL returned error 404: Not Found"


@pytest.mark.parametrize(
    ("url", "message"),
    [("https://nowhere.example/1", "Domain 'nowhere.example' could not be resolved"), ("ftp://x/1", "Invalid URL")],
)
def test_the_page_reader_refuses_addresses_as_jina_does(ask: Ask, url: str, message: str) -> None:
    answer = ask("GET", f"https://r.jina.ai/{url}", headers=READER)
    assert answer.status_code == 400
    assert answer.json() == {
        "data": None, "path": "url", "code": 400, "name": "ParamValidationError", "status": 40001, "message": message,
        "readableMessage": f"ParamValidationError: {message}",
    }  # fmt: skip


def test_the_page_reader_asks_for_a_key(ask: Ask) -> None:
    answer = ask("GET", "https://r.jina.ai/https://soup.example/1?part=2", headers={"Accept": "application/json"})
    assert (answer.status_code, answer.json()["status"]) == (401, 40104)


def test_the_page_reader_has_a_rate(web: Any) -> None:
    import asyncio

    async def three() -> list[httpx.Response]:
        app = WorldApp(web, lambda _: [], pages_per_minute=2)
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app)) as client:
            return [await client.get("https://r.jina.ai/https://soup.example/1?part=2", headers=READER) for _ in "123"]

    answers = asyncio.run(three())
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert answers[2].json()["name"] == "RateLimitTriggeredError"
    assert 0 < int(answers[2].headers["retry-after"]) <= 60
    assert RateLimit(None).take() == 0


def token(ask: Ask) -> str:
    query = {"grant_type": "client_credentials", "client_id": "k", "client_secret": "s"}
    answer = ask("POST", f"{BAIDU}/oauth/2.0/token", params=query).json()
    assert answer["expires_in"] == 2_592_000
    return str(answer["access_token"])


def general(ask: Ask, access: str, **form: str) -> dict[str, Any]:
    answer = ask("POST", f"{BAIDU}/rest/2.0/ocr/v1/general", params={"access_token": access}, data=form)
    assert answer.status_code == 200
    body: dict[str, Any] = answer.json()
    return body


def test_text_recognition_answers_as_baidu_does(ask: Ask, drawn: Callable[..., bytes]) -> None:
    access, image = token(ask), base64.b64encode(drawn(1)).decode()
    answer = general(ask, access, image=image)
    assert answer["words_result_num"] == 1
    location = {"left": 5, "top": 6, "width": 40, "height": 20}
    assert answer["words_result"] == [{"words": "160 x 120", "location": location}]
    with_probability = general(ask, access, image=image, probability="true")["words_result"][0]
    assert with_probability["probability"] == {"average": 0.97, "min": 0.97, "variance": 0.0}


def test_text_recognition_refuses_as_baidu_does(ask: Ask) -> None:
    access = token(ask)
    assert general(ask, "wrong", image="AAAA")["error_code"] == 110
    assert general(ask, access)["error_code"] == 216101
    assert general(ask, access, image="%%%")["error_code"] == 216201
    assert general(ask, access, image=base64.b64encode(b"no picture").decode())["error_code"] == 216201
    assert general(ask, access, image="A" * 5_000_000)["error_code"] == 216202


@pytest.mark.parametrize("lacking", ["grant_type", "client_id", "client_secret"])
def test_a_token_needs_key_and_secret(ask: Ask, lacking: str) -> None:
    query = {"grant_type": "client_credentials", "client_id": "k", "client_secret": "s"}
    del query[lacking]
    answer = ask("POST", f"{BAIDU}/oauth/2.0/token", params=query)
    assert answer.status_code == 401
    assert answer.json().keys() == {"error", "error_description"}


def test_pages_and_pictures_stand_at_their_own_hosts(ask: Ask, drawn: Callable[..., bytes]) -> None:
    for url in ("https://harvest-gala.example/2031", "http://HARVEST-gala.example:80/2031/"):
        assert "<title>Harvest Gala 2031</title>" in ask("GET", url).text
    assert "Autumn soup" in ask("GET", "https://soup.example/1?part=2").text
    picture = ask("GET", "https://harvest-gala.example/4.png")
    assert picture.headers["content-type"] == "image/png"
    assert picture.content == drawn(4)
    assert ask("GET", "https://soup.example/1").status_code == 404
    assert ask("GET", "https://other.example/2031").status_code == 404
    assert ask("POST", "https://harvest-gala.example/2031").status_code == 405
