"""Prompts against golden files, of mini's task single_00005 with the actions of Figures 7 to 9.

`python tests/solvers/test_prompt.py` writes the golden files; a picture stands in them as the hash of its pixels, since
the bytes of a PNG are its compressor's.
"""

import base64
import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

import rotajax as rx
from rotajax.solvers import picture
from rotajax.solvers.prompt import make_prompt, messages, system_text
from rotajax.solvers.question import CONDITIONS
from solving import FIGURES, pictures, pixels, question

GOLDEN = Path(__file__).parent / "golden"
# Figures 7 to 9, with what they print of braces restored; the figures' line breaks are for readability.
HEAD = (
    "The task ends automatically when the requirement is met. "
    "If it continues, the current result has not yet met the requirement."
)
FIGURE_9 = (
    f"Current turn: 3/48. Used steps: 2. Remaining steps: 46. {HEAD}",
    "Historical state 1; action after this state: step=1 action=YAW_POS angle=30 cot=...",
    "Historical state 2; action after this state: step=2 action=PITCH_NEG angle=10 cot=...",
    "Current state to act on now:",
)


@pytest.fixture(scope="module")
def task():
    return rx.load_suite("mini", limit=6)[5]


def readable(prompt):
    """The prompt with every picture replaced by the hash of its pixels, as text."""
    said = json.loads(prompt.json_bytes())
    for part in said[1]["content"]:
        if part["type"] == "image_url":
            kind, _, data = part["image_url"]["url"].partition(",")
            picture = pixels(base64.b64decode(data, validate=True))
            digest = hashlib.sha256(picture.tobytes()).hexdigest()
            part["image_url"]["url"] = f"{kind},<{picture.shape[1]}x{picture.shape[0]} {digest}>"
    return json.dumps(said, indent=1, ensure_ascii=False) + "\n"


CASES = [(turn, "full") for turn in (1, 2, 3)] + [(3, name) for name in CONDITIONS if name != "full"]


@pytest.mark.parametrize(("turn", "condition"), CASES)
def test_a_prompt_is_the_golden_one(task, turn, condition):
    asked = question(task, FIGURES[: turn - 1], condition)
    assert readable(make_prompt(asked)) == (GOLDEN / f"prompt_turn{turn}_{condition}.json").read_text("utf-8")


def test_the_texts_are_those_of_figure_9(task):
    system, user = messages(question(task, FIGURES))
    assert (system["role"], user["role"]) == ("system", "user")
    assert tuple(part["text"] for part in user["content"] if part["type"] == "text") == FIGURE_9
    assert [part["type"] for part in user["content"]] == ["text"] + ["text", "image_url"] * 3
    said = system["content"]
    assert said.startswith(
        "You are playing a deterministic turn-based 3D-to-2D alignment game. Rotate only the CURRENT"
    )
    assert "TARGET projection | CURRENT oblique view | CURRENT projection." in said
    assert '{"cot":"brief current-step reasoning","type":"TOKEN","angle":ANGLE}' in said
    assert said.endswith("The type and angle must come from the allowed sets.")


def test_what_a_condition_leaves_out():
    full, narrow = system_text(CONDITIONS["full"]), system_text(CONDITIONS["no_auxiliary"])
    assert system_text(CONDITIONS["no_history"]) == full  # "keeps the current observation and instructions" (K.5)
    assert system_text(CONDITIONS["neither"]) == narrow
    assert "oblique" not in narrow
    assert "auxiliary" not in narrow
    assert "TARGET projection | CURRENT projection. Compare TARGET with CURRENT projection for alignment." in narrow


def test_the_bytes_are_compact_json_and_any_text_survives_in_them(task):
    hostile = 'cot="}]\\ \n\t$turn ${angle} \u2028 é 漢 <think>'
    prompt = make_prompt(question(task, [("ROLL_NEG", 5, hostile)]))
    data = prompt.json_bytes()
    assert data == json.dumps(prompt.messages(), separators=(",", ":"), ensure_ascii=False).encode()
    history = prompt.messages()[1]["content"][1]["text"]
    assert history == f"Historical state 1; action after this state: step=1 action=ROLL_NEG angle=5 cot={hostile}"


def test_a_panel_is_the_panel_of_the_paper_without_loss(task):
    target, view, current = pictures(task)
    wide = pixels(question(task).panel)
    assert wide.shape == (320, 972, 3)
    assert (wide == np.asarray(rx.panel(target, view, current))[:, :, None]).all()
    narrow = pixels(question(task, condition="no_auxiliary").panel)
    assert narrow.shape == (320, 646, 3)
    assert (narrow == np.delete(wide, np.s_[326:652], axis=1)).all()


@pytest.mark.parametrize("fast", [True, False])
def test_panels_are_the_same_pictures_with_and_without_the_fast_compressor(task, monkeypatch, fast):
    if fast:
        pytest.importorskip("zlib_ng")
    else:
        monkeypatch.setattr(picture, "_fast", None)
    for moves in [(), FIGURES[:1], FIGURES]:
        target, view, current = pictures(task, [move[:2] for move in moves])
        png = picture.make_panel(target, view, current).png
        assert png[24:26] == b"\x08\x02"  # 8 bits, RGB
        assert (pixels(png) == np.asarray(rx.panel(target, view, current))[:, :, None]).all()


def test_a_panel_is_encoded_once(task):
    asked = question(task, FIGURES)
    first, again = make_prompt(asked), make_prompt(asked)
    images = [part for part in first._parts if b"image_url" in part]
    assert len(images) == 3
    assert all(any(part is other for other in again._parts) for part in images)


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for number, name in CASES:
        asked = question(rx.load_suite("mini", limit=6)[5], FIGURES[: number - 1], name)
        (GOLDEN / f"prompt_turn{number}_{name}.json").write_text(readable(make_prompt(asked)), "utf-8")
