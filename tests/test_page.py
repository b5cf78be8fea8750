"""The page of a report in a real browser."""

import os
import shutil

import pytest

from played import HOSTILE, write_played
from rotajax.report import write_report

sync_api = pytest.importorskip("playwright.sync_api")

BROWSER = os.environ.get("ROTAJAX_BROWSER") or shutil.which("chromium") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no chromium on the path (set ROTAJAX_BROWSER)")


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    run, suite = write_played(tmp_path_factory.mktemp("page"))
    options = {"coverage": False, "draw": 0, "replay": 3, "paper": True, "progress": False}
    return write_report([run], run.parent / "out", suite=suite, **options)


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        # Root in a container has no sandbox; the page under test is our own.
        yield playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])


@pytest.fixture(params=[(1366, 768), (390, 844)], ids=["laptop", "phone"])
def page(browser, file, request):
    width, height = request.param
    context = browser.new_context(viewport={"width": width, "height": height}, offline=True)
    page = context.new_page()
    page.said, page.asked = [], []
    page.on("pageerror", lambda error: page.said.append(str(error)))
    page.on("console", lambda message: page.said.append(message.text))
    page.on("dialog", lambda dialog: (page.said.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda request: page.asked.append(request.url))
    page.goto(file.as_uri())
    yield page
    assert page.said == []
    assert [url for url in page.asked if not url.startswith("data:")] == [file.as_uri()]
    context.close()


def column(page, table, number):
    return page.locator(f"{table} tbody tr").evaluate_all(
        "(rows, n) => rows.map((row) => row.cells[n].firstChild.textContent.trim())", number
    )


def test_it_fits_its_width_and_names_are_text(page):
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.locator("h1").inner_text() == "Analysis of run"
    assert column(page, "#summary", 0)[:3] == ["good", HOSTILE, "Human, paper"]
    assert page.locator("img[src=x]").count() == 0
    sizes = "cells => cells.map((cell) => parseFloat(getComputedStyle(cell).fontSize))"
    assert min(page.locator("#summary td").evaluate_all(sizes)) >= 12


def test_a_heading_sorts_both_ways_and_puts_what_is_missing_last(page):
    heads = page.locator("#summary thead th")
    success = [h.strip() for h in heads.all_inner_texts()].index("success\u00a0%")
    button = heads.nth(success).locator("button")
    button.click()
    assert heads.nth(success).get_attribute("aria-sort") == "ascending"
    values = [float(text.split()[0]) for text in column(page, "#summary", success)]
    assert values == sorted(values)
    assert values[0] < values[-1]
    button.click()
    values = [float(text.split()[0]) for text in column(page, "#summary", success)]
    assert values == sorted(values, reverse=True)
    coverage = [h.strip() for h in heads.all_inner_texts()].index("coverage\u00a0%")
    for _ in range(2):
        heads.nth(coverage).locator("button").click()
        shown = column(page, "#summary", coverage)
        assert shown[0] != "–"
        assert shown[-1].startswith("–")


def test_the_list_of_episodes_sorts_and_searches(page):
    assert page.locator("#count").inner_text() == "4 of 4 episodes"
    heads = page.locator("#list thead th")
    final = heads.all_inner_texts().index("final IoU")
    heads.nth(final).locator("button").click()
    assert column(page, "#list", final) == ["0.300", "0.400", "0.950", "0.950"]
    heads.nth(final).locator("button").click()
    assert column(page, "#list", final) == ["0.950", "0.950", "0.400", "0.300"]
    page.locator("#filter").fill("stop 00001")
    assert page.locator("#count").inner_text() == "1 of 4 episodes"
    assert column(page, "#list", 1) == ["single_00001"]


def state(page):
    return [page.locator(f"#{name}").inner_text() for name in ("at", "action", "iou", "error")]


def test_the_replay_steps_by_buttons_slider_and_keys(page):
    assert page.locator("#which option").count() == 3
    first = state(page)
    assert first[:3] == ["0 of 3", "YAW_POS 30°", "0.400"]
    pictures = [page.locator(f"#{name}").get_attribute("src") for name in ("target", "view", "current")]
    assert all(picture.startswith("data:image/png;base64,") for picture in pictures)
    assert page.locator("#view").evaluate("picture => picture.decode().then(() => picture.naturalWidth)") == 320
    page.locator("#next").click()
    assert state(page)[:3] == ["1 of 3", "PITCH_NEG 5°", "0.500"]
    assert page.locator("#current").get_attribute("src") != pictures[2]
    page.locator("h1").click()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert state(page)[:3] == ["3 of 3", "– (success)", "0.950"]
    page.keyboard.press("ArrowLeft")
    assert state(page)[0] == "2 of 3"
    page.locator("#step").fill("0")
    assert state(page) == first
    page.locator("#back").click()
    assert state(page) == first


def test_it_plays_to_the_end_and_pauses(page):
    page.locator("#play").click()
    assert "pause" in page.locator("#play").inner_text()
    page.wait_for_function("document.getElementById('at').textContent === '3 of 3'", timeout=10_000)
    page.wait_for_function("document.getElementById('play').textContent.includes('play')", timeout=5_000)


def test_a_row_of_the_list_opens_its_replay(page):
    page.locator("#filter").fill("stop 00000")
    page.locator("#list tbody tr.opens").click()
    assert "single_00000: stop" in page.locator("#which").evaluate("list => list.selectedOptions[0].text")
    page.locator("#step").fill("2")
    assert state(page)[:3] == ["2 of 2", "STOP", "0.300"]
    page.locator("#which").select_option(index=0)
    assert state(page)[0] == "0 of 3"
