import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rotajax.icons.outline import outline_points, plane_points
from rotajax.tasks import folder
from rotajax.tasks.starts import start_pose
from rotajax.tasks.suite import embedded_suites, load_suite
from suites import write_tiny_suite


@pytest.fixture
def path(tmp_path):
    return write_tiny_suite(tmp_path / "tiny")


def edit(path, change):
    """Change suite.json as a hand would: the hashes stay as they were."""
    file = path / "suite.json"
    document = json.loads(file.read_bytes())
    change(document)
    file.write_text(json.dumps(document))


def rehash(path, change):
    """Change the rows and hash them anew, as another program might write them."""
    document = json.loads((path / "suite.json").read_bytes())
    rows = [{k: v for k, v in row.items() if k != "digest"} for row in document["tasks"]]
    change(rows)
    (path / "suite.json").write_text(json.dumps(folder.make_document("tiny", rows)))


def refusal(path):
    with pytest.raises(ValueError) as caught:
        load_suite(path)
    message = str(caught.value)
    assert "\n" not in message
    return message


def mask_refusal(path, row):
    try:
        folder.read_mask(path, row)
    except ValueError as error:
        return str(error)
    return ""


def test_a_suite_comes_back_as_it_was_written(path):
    suite = load_suite(path)
    document = json.loads((path / "suite.json").read_bytes())
    assert suite.ids == ["single_00000", "single_00001", "single_00002"]
    assert (suite.info.id, suite.info.version, suite.info.sha256) == ("tiny", 1, document["sha256"])
    assert len(suite) == len(list(suite)) == 3
    for task, row in zip(suite, document["tasks"], strict=True):
        points = plane_points(outline_points(folder.read_mask(path, row)), tuple(row["circle"]))
        n = int(task.solid.count)
        np.testing.assert_array_equal(np.stack([task.solid.x, task.solid.y], 1)[:n], points.astype(np.float32))
        assert (n, task.solid.seed) == (len(points), row["seed"])
        np.testing.assert_array_equal(task.start, start_pose(row["start"]))
        np.testing.assert_array_equal(task.group, np.broadcast_to(np.eye(3), (24, 3, 3)))


def test_the_same_input_is_the_same_bytes(path, tmp_path):
    again = write_tiny_suite(tmp_path / "again")
    files = sorted(file.relative_to(path) for file in path.rglob("*") if file.is_file())
    assert [str(file) for file in files] == [
        "ATTRIBUTION.md",
        *(f"masks/single_0000{k}.png" for k in range(3)),
        "suite.json",
    ]
    for file in files:
        assert (path / file).read_bytes() == (again / file).read_bytes()


def test_the_attribution_names_author_licence_and_icon(path):
    text = (path / "ATTRIBUTION.md").read_text()
    assert "## nobody (CC0)" in text
    assert "- shapes/2.svg" in text


def test_a_task_can_be_taken_under_jit_and_suites_are_pytrees(path):
    suite = load_suite(path)
    seed = jax.jit(lambda suite, index: suite[index].solid.seed)
    assert [int(seed(suite, jnp.int32(k))) for k in range(3)] == [100, 101, 102]
    assert seed._cache_size() == 1
    # Closed over instead of passed in, as well.
    assert int(jax.jit(lambda index: suite[index].solid.count)(jnp.int32(2))) == suite[2].solid.count
    assert seed(load_suite(path), jnp.int32(0)) == 100
    assert seed._cache_size() == 1


def test_a_limit_keeps_the_first_tasks(path):
    suite = load_suite(path, limit=2)
    assert (len(suite), suite.ids) == (2, ["single_00000", "single_00001"])
    assert suite.info != load_suite(path).info
    np.testing.assert_array_equal(suite[1].solid.x, load_suite(path)[1].solid.x)
    with pytest.raises(ValueError, match=r"^load_suite: limit: expected a whole number of at least 1, got 0$"):
        load_suite(path, limit=0)


def test_every_changed_byte_of_a_mask_is_seen_and_names_the_task(path):
    file = path / "masks" / "single_00001.png"
    good = file.read_bytes()
    rows = json.loads((path / "suite.json").read_bytes())["tasks"]
    expected = folder.read_mask(path, rows[1])
    seen = 0
    for position in [*range(40), *range(40, len(good), 11), len(good) - 1]:
        torn = bytearray(good)
        torn[position] ^= 0x41
        file.write_bytes(torn)
        message = mask_refusal(path, rows[1])
        seen += bool(message)
        if message:
            assert "task single_00001" in message
            assert "\n" not in message
        else:  # bytes of a PNG that say nothing of its pixels may differ; the pixels may not
            np.testing.assert_array_equal(folder.read_mask(path, rows[1]), expected)
    assert seen > 20
    for torn in (good[: len(good) // 2], b"", b"not a picture"):
        file.write_bytes(torn)
        assert "task single_00001" in refusal(path)


def test_a_changed_mask_names_the_task(path):
    other = (path / "masks" / "single_00000.png").read_bytes()
    (path / "masks" / "single_00002.png").write_bytes(other)
    assert "task single_00002 was changed: mask: expected sha256" in refusal(path)


def test_a_missing_mask_names_the_task(path):
    (path / "masks" / "single_00002.png").unlink()
    assert "task single_00002: expected its mask single_00002.png, got nothing" in refusal(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda row: row.update(seed=row["seed"] + 1),
        lambda row: row["start"].pop(),
        lambda row: row.update(mirror=True),
        lambda row: row["icon"].update(author="somebody"),
        lambda row: row["circle"].__setitem__(0, row["circle"][0] + 1e-9),
        lambda row: row.update(digest="0" * 64),
        lambda row: row.pop("digest"),
    ],
)
def test_a_changed_row_names_the_task(path, change):
    edit(path, lambda document: change(document["tasks"][1]))
    assert "task single_00001" in refusal(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda rows: rows[1].pop("circle"),
        lambda rows: rows[1].pop("start"),
        lambda rows: rows[1].pop("mask_sha256"),
        lambda rows: rows[1].update(start=["UP"]),
        lambda rows: rows[1].update(start=[]),
        lambda rows: rows[1].update(seed=-1),
        lambda rows: rows[1].update(seed="7"),
        lambda rows: rows[1].update(symmetry_order=13),
        lambda rows: rows[1].update(circle=[0.0, 0.0]),
        lambda rows: rows[1].update(circle=[0.0, 0.0, 0.0]),
        lambda rows: rows[1].update(circle=[0.0, 0.0, 1.0]),
        lambda rows: rows[1].update(id="../single_00000"),
        lambda rows: rows[1].update(id="single_00000"),
    ],
)
def test_a_row_that_makes_no_task_is_refused_although_its_hashes_hold(path, change):
    rehash(path, change)
    message = refusal(path)
    assert "task single_00001" in message or "single_00000" in message


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(format="rotajax.suite/2"), "format: expected rotajax.suite/1, got 'rotajax.suite/2'"),
        (lambda d: d.update(sha256="0" * 64), "was changed: sha256: expected 0000"),
        (lambda d: d.update(id="other"), "was changed: sha256: expected"),
        (lambda d: d["tasks"].pop(), "was changed: sha256: expected"),
        (lambda d: d["tasks"].reverse(), "was changed: sha256: expected"),
        (lambda d: d.update(tasks=[]), "tasks: expected a list of tasks, got"),
        (lambda d: d.update(tasks=None), "tasks: expected a list of tasks, got NoneType"),
        (lambda d: d.update(tasks=["x"]), "task number 0: expected an object, got str"),
    ],
)
def test_a_changed_document_says_what_does_not_hold(path, change, message):
    edit(path, change)
    assert message in refusal(path)


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b'{"format": "rotajax.suite/1", "tas', b"\xff\xfe\x00", b"[1]", b'{"seed": NaN}', b"[" * 99999],
)
def test_torn_or_foreign_json_is_refused(path, content):
    (path / "suite.json").write_bytes(content)
    message = refusal(path)
    assert "suite.json" in message
    assert "expected" in message


def test_what_is_no_suite_is_refused_by_name(path, tmp_path):
    assert "expected a suite folder or an embedded suite (mini), got nothing at" in refusal(tmp_path / "none")
    (path / "suite.json").unlink()
    assert "expected a file suite.json in it, got none" in refusal(path)
    assert "suite: expected a folder, got a file" in refusal(path / "ATTRIBUTION.md")


def test_the_embedded_suite_is_whole():
    assert list(embedded_suites()) == ["mini"]
    suite = load_suite("mini")
    assert len(suite) >= 24
    assert len(set(suite.ids)) == len(suite)
    assert all(len(row["start"]) in range(6, 17) for row in suite.info.rows)
