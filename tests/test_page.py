"""The page of a report in a real browser."""

import base64
import io
import os
import shutil

import jax
import numpy as np
import pytest
from PIL import Image

from played import HOSTILE, write_played
from rotajax.compare import iou, pose_error_deg
from rotajax.env.actions import STOP
from rotajax.geometry.rotation import MATRICES, compose
from rotajax.records import OUTCOMES, EpisodeKey, open_run
from rotajax.records.lines import decision_line, episode_line, shortest
from rotajax.render.shade import shade
from rotajax.render.splat import splat
from rotajax.report import write_report
from rotajax.tasks.suite import load_suite

sync_api = pytest.importorskip("playwright.sync_api")

BROWSER = os.environ.get("ROTAJAX_BROWSER") or shutil.which("chromium") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no chromium on the path (set ROTAJAX_BROWSER)")


ACTIONS_TAKEN = (11, 2, 21, 4)


@pytest.fixture(scope="module")
def file(request, tmp_path_factory):
    if hasattr(request, "param"):
        return request.getfixturevalue(request.param)[0]
    run, suite = write_played(tmp_path_factory.mktemp("page"))
    options = {"coverage": False, "draw": 0, "paper": True, "progress": False}
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
    page.locator("#panel:not([aria-busy])").wait_for()
    return [page.locator(f"#{name}").inner_text() for name in ("at", "action", "iou", "error")]


def pixels(page, name):
    """The grey levels of a canvas, uint8 [320, 320]."""
    png = page.locator(f"#{name}").evaluate("canvas => canvas.toDataURL()").partition(",")[2]
    with Image.open(io.BytesIO(base64.b64decode(png))) as picture:
        return np.asarray(picture.convert("L"))


def test_the_replay_steps_by_buttons_slider_and_keys(page):
    first = state(page)
    assert first[:3] == ["0 of 3", "YAW_POS 30°", "0.400"]
    target, current = pixels(page, "target"), pixels(page, "current")
    assert set(np.unique(target)) == {0, 255}
    page.locator("#next").click()
    assert state(page)[:3] == ["1 of 3", "PITCH_NEG 5°", "0.500"]
    assert (pixels(page, "target") == target).all()
    assert (pixels(page, "current") != current).sum() > 1000
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
    assert (pixels(page, "current") == current).all()
    box = page.locator("#trace").bounding_box()
    page.locator("#trace").click(position={"x": box["width"] - 5, "y": 5})
    assert state(page)[0] == "3 of 3"


def test_it_plays_to_the_end_and_pauses(page):
    page.locator("#play").click()
    assert "pause" in page.locator("#play").inner_text()
    sync_api.expect(page.locator("#at")).to_have_text("3 of 3", timeout=60_000)
    sync_api.expect(page.locator("#play")).to_have_text("▶ play", timeout=60_000)


def test_a_row_of_the_list_opens_its_replay(page):
    page.locator("#filter").fill("stop 00000")
    page.locator("#list tbody tr.opens").click()
    assert "single_00000: stop" in page.locator("#which").evaluate("list => list.selectedOptions[0].text")
    page.locator("#step").fill("2")
    assert state(page)[:3] == ["2 of 2", "STOP", "0.300"]


def test_every_episode_can_be_chosen_and_a_change_of_method_keeps_the_task(page):
    seen = []
    for method in ("good", HOSTILE):
        page.locator("#method").select_option(method)
        for row in range(page.locator("#which option").count()):
            page.locator("#which").select_option(index=row)
            shown = page.locator("#which").evaluate("list => list.selectedOptions[0].text")
            seen.append((method, shown, *state(page)[::2]))
    assert seen == [
        ("good", "single_00000: success", "0 of 3", "0.400"),
        ("good", "single_00001: success", "0 of 3", "0.410"),
        (HOSTILE, "single_00000: stop", "0 of 2", "0.400"),
        (HOSTILE, "single_00001: stop", "0 of 2", "0.410"),
    ]
    page.locator("#method").select_option("good")
    assert page.locator("#which").evaluate("list => list.selectedOptions[0].text") == "single_00001: success"


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """The page of a solver on two icons, of 80,328 pixels and of 127,023, more than a solid has columns; its frames."""
    suite = load_suite("mini", limit=3)
    draw = jax.jit(lambda solid, pose: (splat(solid, pose), shade(solid, pose)))
    lines, frames = [], []
    for row in (0, 2):
        task, key = suite[row], EpisodeKey(suite.ids[row], "told", 0)
        poses = [np.asarray(task.start)]
        for action in ACTIONS_TAKEN:
            poses.append(np.asarray(compose(MATRICES[action], poses[-1])))
        pictures = [tuple(map(np.asarray, draw(task.solid, pose))) for pose in [np.eye(3, dtype=np.float32), *poses]]
        ious = [float(iou(mask, pictures[0][0])) for mask, _ in pictures[1:]]
        errors = [float(pose_error_deg(pose, task.group)) for pose in poses]
        flat = [shortest(pose.reshape(9)) for pose in poses]
        for t, action in enumerate([*ACTIONS_TAKEN, STOP]):
            after = min(t + 1, len(ACTIONS_TAKEN))
            line = decision_line(key, t, action, (ious[t], ious[after]), (errors[t], errors[after]), flat[t])
            lines.append(line | {"cot": f"Step {t}. {HOSTILE}" + "long" * 400})
        end = OUTCOMES.index("stop")
        lines.append(episode_line(key, end, len(ACTIONS_TAKEN), ious[-1], errors[-1], flat[-1]))
        frames.append((pictures, ious))
    folder = tmp_path_factory.mktemp("told")
    identity = {"id": suite.info.id, "version": suite.info.version, "sha256": suite.info.sha256}
    with open_run(folder / "run", {"suite": identity}, device="none") as writer:
        writer.append(lines)
    # The IoUs are drawn again here as well: they are the pictures'.
    return write_report([folder / "run"], folder / "out", coverage=False, progress=False), frames


@pytest.mark.parametrize("page", [(390, 844)], ids=["phone"], indirect=True)
@pytest.mark.parametrize("file", ["told"], indirect=True)
def test_pictures_are_those_of_the_renderers_and_replies_stand_beside_them(page, told):
    for row, (pictures, ious) in enumerate(told[1]):
        page.locator("#which").select_option(index=row)
        target = pictures[0][0]
        for t, (mask, view) in enumerate(pictures[1:]):
            page.locator("#step").fill(str(t))
            assert state(page)[:3:2] == [f"{t} of {len(ious) - 1}", f"{ious[t]:.3f}"]
            found, aim = pixels(page, "current") == 255, pixels(page, "target") == 255
            # Another order of roundings may put a point a pixel further.
            assert (aim != target).sum() <= 4
            assert (found != mask).sum() <= 8
            assert (found & aim).sum() / (found | aim).sum() == pytest.approx(ious[t], abs=2e-3)
            gap = np.abs(pixels(page, "view").astype(int) - view)
            assert (gap <= 1).mean() > 0.99
            assert page.locator("#reply").inner_text().startswith(f"Step {t}. {HOSTILE}long")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
