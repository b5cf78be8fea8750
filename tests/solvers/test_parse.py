import pytest
from hypothesis import given
from hypothesis import strategies as st

from rotajax.env.actions import STOP, action_index
from rotajax.solvers.parse import CODES, LONGEST, Answer, Malformed, read_answer

GOOD = '{"cot":"look","type":"YAW_POS","angle":30}'
YAW = action_index("YAW_POS", 30)


def code(text, **options):
    found = read_answer(text, **options)
    assert isinstance(found, Malformed), found
    assert found.code in CODES
    return found.code


@pytest.mark.parametrize("text", [GOOD, f"\n {GOOD}\t\n", '{"angle": 30.0, "type": "YAW_POS", "cot": "look"}'])
def test_an_object_alone_is_read_strictly(text):
    assert read_answer(text) == Answer(YAW, 30, "look", True)


@pytest.mark.parametrize(
    "text",
    [
        f"I turn it.\n{GOOD}",
        f"```json\n{GOOD}\n```",
        f"<think>Of the set {{a, b}} I take a.</think>\n{GOOD}",
        f"<think>{GOOD}</think>",
        f"{GOOD} That is my answer.",
        '{"cot":"look","type":"YAW_POS","angle":30,"confidence":0.9}',
        f'{{"note": "no action here"}} {GOOD}',
    ],
)
def test_one_valid_object_among_other_text_is_read_tolerantly(text):
    assert read_answer(text) == Answer(YAW, 30, "look", False)


@pytest.mark.parametrize("angle", ['"angle":0', '"angle":null', '"angle":30', None])
def test_stop_needs_no_angle(angle):
    fields = ['"cot":"done"', '"type":"STOP"', *([angle] if angle else [])]
    found = read_answer("{" + ",".join(fields) + "}")
    assert (found.action, found.angle, found.text) == (STOP, 0, "done")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, "empty"),
        ("  \n", "empty"),
        ("YAW_POS by 30 degrees", "no_object"),
        ("{'cot': 'x', 'type': 'YAW_POS', 'angle': 30}", "no_object"),
        ('{"cot":"x","type":"YAW_POS","angle":3', "no_object"),
        (GOOD + GOOD, "two_objects"),
        (f"<think>{GOOD}</think>{GOOD}", "two_objects"),
        (f"[{GOOD}, {GOOD}]", "two_objects"),
        ('{"cot":"x","type":"YAW_POS","type":"YAW_NEG","angle":30}', "duplicate_key"),
        ('{"type":"YAW_POS","angle":30}', "missing_key"),
        ('{"cot":"x","type":"YAW_POS"}', "missing_key"),
        ('{"cot":"x","angle":30}', "missing_key"),
        (f'{{"answer": {GOOD}}}', "missing_key"),
        ('{"cot":["x"],"type":"YAW_POS","angle":30}', "wrong_type"),
        ('{"cot":"x","type":"YAW_POS","angle":"30"}', "wrong_type"),
        ('{"cot":"x","type":"YAW_POS","angle":true}', "wrong_type"),
        ('{"cot":"x","type":3,"angle":30}', "wrong_type"),
        ('{"cot":"x","type":"yaw_pos","angle":30}', "unknown_action"),
        ('{"cot":"x","type":"YAW_POS ","angle":30}', "unknown_action"),
        ('{"cot":"x","type":"YAW_POS","angle":15}', "illegal_angle"),
        ('{"cot":"x","type":"YAW_POS","angle":-30}', "illegal_angle"),
        ('{"cot":"x","type":"YAW_POS","angle":0}', "illegal_angle"),
        ('{"cot":"x","type":"YAW_POS","angle":NaN}', "illegal_angle"),
        ('{"cot":"x","type":"YAW_POS","angle":1e999}', "illegal_angle"),
        ('{"cot":"x","type":"STOP","angle":15}', "illegal_angle"),
        ('{"a":' * 100_000, "too_long"),
        ('{"a":' * 5_000, "no_object"),
        ('{"a":"' * 50_000, "no_object"),
        ("{" * 100_000, "no_object"),
        ('{"cot":"x","type":"YAW_POS","angle":' + "9" * 6000 + "}", "no_object"),
    ],
)
def test_everything_else_is_malformed_and_says_why(text, expected):
    assert code(text) == expected


def test_how_an_answer_ended_counts():
    assert code(f"I think {GOOD}", finish_reason="length") == "truncated"
    assert code("", finish_reason="length") == "truncated"
    assert read_answer(GOOD, finish_reason="length").strict  # whole, whatever came after it
    assert code(GOOD, refusal="I cannot help with that") == "refused"
    assert code(GOOD, finish_reason="content_filter") == "refused"
    assert code("x" * (LONGEST + 1)) == "too_long"


def test_a_text_that_utf8_cannot_hold_is_made_so_that_it_can():
    found = read_answer('{"cot":"a \\ud800 b","type":"STOP","angle":0}')
    found.text.encode()
    assert found.text == "a ? b"
    read_answer("\ud800 {").detail.encode()


# Pieces of which a text may be made that is nearly an answer.
PIECES = st.sampled_from(
    [
        GOOD,
        "{",
        "}",
        '"cot"',
        ":",
        ",",
        '"type"',
        '"YAW_POS"',
        '"angle"',
        "30",
        "[",
        "]",
        "<think>",
        "```",
        "x",
        "\\",
        '"',
    ]
)


@given(st.lists(PIECES, max_size=20).map("".join) | st.text(max_size=60))
def test_no_text_breaks_it_and_no_other_move_comes_out(text):
    found = read_answer(text)
    if isinstance(found, Answer):
        # The only valid object that the pieces make.
        assert text.count(GOOD) == 1 or '"YAW_POS"' in text
        assert found.action == YAW
    else:
        assert found.code in CODES
