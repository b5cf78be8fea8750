"""The searches against the game itself and against brute force with the exact renderer."""

import dataclasses

import jax
import numpy as np
import pytest

import shapes
from reference import rotation
from rotajax.compare import iou
from rotajax.env.actions import INVERSE, action_index
from rotajax.env.state import RUNNING, SUCCESS, Params
from rotajax.env.step import reset, step
from rotajax.geometry.quaternion import from_matrix
from rotajax.geometry.rotation import DIRECTIONS
from rotajax.render.splat import splat
from rotajax.search import reference, shortest
from rotajax.search.beam import beam_search
from rotajax.search.bfs import TURNS, Breadth, breadth_first
from rotajax.search.ground import make_ground, replay
from rotajax.search.reference import find_reference
from rotajax.search.shortest import shortest_path
from rotajax.tasks.starts import draw_sequence, inverse_path, start_pose

GOAL = np.float32(0.9)
CASES = {
    "bar": (shapes.bar, draw_sequence(6, 0), {"order": 2, "mirror": 0.0}),
    "letter": (shapes.letter, draw_sequence(9, 0), {}),
    "ring": (shapes.ring, draw_sequence(2, 0), {}),
}
exact_ious = jax.jit(lambda solid, target, poses: jax.lax.map(lambda R: iou(splat(solid, R), target), poses))
first, after = jax.jit(reset), jax.jit(step)


@pytest.fixture(scope="module")
def grounds():
    made = {}
    for name, (keep, sequence, group) in CASES.items():
        task = shapes.task_of(keep, start_pose(sequence), **group)
        if name == "ring":  # more columns than pixels, as real icons have: its spans are drawn
            task = dataclasses.replace(task, solid=shapes.solid_of(keep, step=0.1737))
        made[name] = make_ground(task)
    return made


@pytest.fixture(scope="module")
def found(grounds):
    return {name: find_reference(ground, CASES[name][1]) for name, ground in grounds.items()}


@pytest.fixture(scope="module")
def small():
    """A solid of few columns, so that thousands of exact pictures take a second."""
    task = shapes.task_of(shapes.letter, shapes.EYE)
    task = dataclasses.replace(task, solid=shapes.solid_of(shapes.letter, step=0.9871))
    return make_ground(task)


def starting_at(ground, R):
    """The same solid with another start."""
    R = np.asarray(R, np.float32)
    return dataclasses.replace(ground, task=dataclasses.replace(ground.task, start=R), start=from_matrix(R))


def brute_force(ground, actions, length):
    """The largest exact IoU of all words of a length, each multiplied out in float64."""
    letters = np.stack([rotation.apply(np.eye(3), a) for a in actions])
    poses = np.asarray(ground.task.start, np.float64)[None]
    for _ in range(length):
        poses = np.einsum("aij,pjk->apik", letters, poses).reshape(-1, 3, 3)
    pad = np.repeat(poses[-1:], -len(poses) % 128, axis=0)
    parts = np.concatenate([poses, pad]).astype(np.float32).reshape(-1, 128, 3, 3)
    return max(np.asarray(exact_ious(ground.task.solid, ground.mask, part)).max() for part in parts)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("which", ["path", "shortest"])
def test_a_path_wins_the_game_at_its_last_action_and_no_sooner(grounds, found, name, which):
    path = [action_index(*step) for step in getattr(found[name], which)]
    task = grounds[name].task
    state, _ = first(task, Params())
    for n, action in enumerate(path, 1):
        assert state.outcome == RUNNING
        state, _ = after(state, np.int32(action), Params())
        # The searches replay what the game plays.
        assert abs(replay(grounds[name], path[:n]) - float(state.iou)) < 2e-3
    assert state.outcome == SUCCESS
    assert state.iou >= GOAL
    assert state.steps == len(path)


@pytest.mark.parametrize("name", CASES)
def test_what_is_said_of_a_search_holds_together(found, name):
    one, sequence = found[name], CASES[name][1]
    lengths = [n for n in (one.beam, one.breadth) if n is not None]
    assert len(one.path) == min([*lengths, len(sequence)])
    assert one.lower_bound <= len(one.shortest) <= len(one.path) <= len(sequence)
    assert one.proved == (len(one.shortest) == one.lower_bound)
    assert one.iou >= GOAL
    if one.breadth is not None:
        assert one.breadth_exhausted == one.breadth - 1
    assert all(direction in DIRECTIONS and angle in (1, 5, 10, 30) for direction, angle in one.path)


def test_the_cases_take_every_way(grounds, found):
    assert [grounds[name].sparse for name in CASES] == [True, True, False]
    assert (found["bar"].beam, found["bar"].breadth, len(found["bar"].path)) == (5, None, 5)
    assert (found["letter"].beam, found["letter"].breadth, found["letter"].path) == (
        None,
        None,
        inverse_path(CASES["letter"][1]),
    )
    assert found["letter"].proved
    assert found["ring"].breadth_exhausted == 8


@pytest.mark.parametrize("name", CASES)
def test_a_wider_beam_is_never_longer(grounds, found, name):
    longest = len(CASES[name][1]) - 1
    lengths = [beam_search(grounds[name], longest, width=width) for width in (1, 16, 64, 256)]
    lengths = [99 if path is None else len(path) for path in lengths]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[-1] == (found[name].beam or 99)


def test_a_beam_does_not_go_on_past_the_limit(grounds, found):
    assert beam_search(grounds["bar"], found["bar"].beam) is not None
    assert beam_search(grounds["bar"], found["bar"].beam - 1) is None
    assert beam_search(grounds["bar"], 0) is None


@pytest.mark.parametrize("turns", [["YAW_POS"] * 3, ["PITCH_POS", "ROLL_NEG", "YAW_POS"], ["YAW_NEG", "PITCH_NEG"]])
def test_breadth_first_finds_what_brute_force_finds(small, turns):
    ground = starting_at(small, start_pose(turns))
    least = next(n for n in range(4) if brute_force(ground, TURNS, n) >= GOAL)
    result = breadth_first(ground, 5)
    assert (len(result.path), result.exhausted) == (least, least - 1)
    assert replay(ground, result.path) >= GOAL
    assert set(result.path) <= set(TURNS)
    # One level less: nothing, and it says how far it looked.
    assert breadth_first(ground, least - 1) == Breadth(None, least - 1)
    assert breadth_first(ground, 5, deepest=least - 1) == Breadth(None, least - 1)


# A start is made by undoing these actions: they are a solution.
WORDS = ([9], [0, 11], [23, 23], [2, 7, 18], [11, 19, 6], [3, 14, 3, 21])


def undone(ground, word):
    R = np.eye(3)
    for action in reversed(word):
        R = rotation.apply(R, INVERSE[action])
    return starting_at(ground, R)


@pytest.mark.parametrize(
    "word", [pytest.param(word, marks=[pytest.mark.slow] * (word == [2, 7, 18])) for word in WORDS], ids=str
)
def test_the_shortest_path_is_what_brute_force_over_all_words_finds(small, word):
    ground = undone(small, word)
    longest = 3 if word == [2, 7, 18] else 2  # thousands of exact pictures
    least = next((n for n in range(1, longest + 1) if brute_force(ground, range(24), n) >= GOAL), None)
    result = shortest_path(ground, longest)
    if least is None:
        assert (result.path, result.lower_bound, result.proved) == (None, longest + 1, False)
        result = shortest_path(ground, 4)
        assert longest < len(result.path) == result.lower_bound <= len(word)
    else:
        assert (len(result.path), result.lower_bound, result.proved) == (least, least, True)
    assert replay(ground, result.path) >= GOAL


def test_halves_that_meet_find_what_looking_up_finds(small, monkeypatch):
    starts = [undone(small, word) for word in WORDS]
    looked_up = [shortest_path(ground, 4) for ground in starts]
    monkeypatch.setattr(shortest, "DIRECT", 2)
    met = [shortest_path(ground, 4) for ground in starts]
    for one, other, ground in zip(looked_up, met, starts, strict=True):
        assert one.proved
        assert (len(other.path), other.lower_bound) == (len(one.path), one.lower_bound)
        assert replay(ground, other.path) >= GOAL


@pytest.mark.parametrize(
    "budget",
    [{"HALVES": 0}, {"PAIRS": 0}, {"PAIRS": 3}, {"DRAWN": 0}, {"DRAWN": 1}, {"HALVES": 200, "DRAWN": 8}],
    ids=str,
)
def test_a_search_that_is_cut_short_proves_less_and_nothing_false(small, monkeypatch, budget):
    starts = [undone(small, word) for word in (*WORDS, [11, 2, 23, 5, 14])]
    monkeypatch.setattr(shortest, "DIRECT", 2)
    whole = [shortest_path(ground, 4) for ground in starts]
    for name, value in budget.items():
        monkeypatch.setattr(shortest, name, value)
    cut = [shortest_path(ground, 4) for ground in starts]
    for one, other, ground in zip(whole, cut, starts, strict=True):
        assert other.lower_bound <= one.lower_bound
        if other.path is not None:
            assert replay(ground, other.path) >= GOAL
            assert len(other.path) >= len(one.path)
            assert not other.proved or len(other.path) == len(one.path)
    assert cut != whole


def test_the_bounds_of_the_cases_stand_up_to_short_words(grounds, found):
    for name in CASES:
        assert brute_force(grounds[name], range(24), 1) < GOAL
        assert brute_force(grounds[name], TURNS, 2) < GOAL
        assert found[name].lower_bound >= 3


def test_an_inverse_that_wins_before_its_end_is_cut_there(grounds, monkeypatch):
    """A bar turned by half a turn is aligned: the last six turns of the way back are not played."""
    sequence = ["ROLL_POS"] * 6 + ["PITCH_POS", "YAW_POS", "PITCH_POS", "YAW_POS"]
    ground = starting_at(grounds["bar"], start_pose(sequence))
    monkeypatch.setattr(reference, "beam_search", lambda *_: None)
    monkeypatch.setattr(reference, "breadth_first", lambda *_: Breadth(None, 0))
    path = find_reference(ground, sequence, wide=False).path
    assert len(path) <= 4
    assert path == inverse_path(sequence)[: len(path)]


def test_a_sparse_solid_is_searched_with_the_exact_renderer(grounds, found):
    """A column's 31 samples leave gaps there, its span has none: by spans no path of 5 was seen, and 6 was proved."""
    ground = grounds["bar"]
    poses = np.stack([np.asarray(ground.task.start), shapes.EYE, shapes.about((1, 1, 0), 8).astype(np.float32)])
    assert ground.ious(poses).tolist() == [ground.exact_iou(pose) for pose in poses]
    assert max(ground.ious(poses) - dataclasses.replace(ground, sparse=False).ious(poses)) > 0.01
    assert len(found["bar"].shortest) == 5


def test_a_start_that_its_sequence_does_not_lead_to_is_refused(grounds):
    with pytest.raises(ValueError, match=r"reversed start: IoU after its replay: expected at least 0.9, got 0\."):
        find_reference(grounds["letter"], ["YAW_POS", "PITCH_POS"])


def test_reference_only_says_no_bound(grounds, found):
    one = find_reference(grounds["bar"], CASES["bar"][1], wide=False)
    assert (one.path, one.shortest, one.lower_bound) == (found["bar"].path, found["bar"].path, 1)
    assert not one.proved


def test_the_same_search_is_the_same(grounds, found):
    assert find_reference(grounds["ring"], CASES["ring"][1]) == found["ring"]
