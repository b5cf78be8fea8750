import numpy as np
import pytest

from reference import rotation, visibility
from runs import episode, write_run
from shapes_mesh import cap, ring, sphere_ring
from suites import write_tiny_suite

pytest.importorskip("skimage")
pytest.importorskip("embreex")

from rotajax.analysis import load
from rotajax.analysis.coverage import Surface, measure_coverage
from rotajax.geometry.mesh import surface
from rotajax.records import open_run
from rotajax.tasks.suite import load_suite


def sphere_directions(count):
    """Directions spread evenly over the sphere (a spiral)."""
    z = 1 - (2 * np.arange(count) + 1) / count
    turn = np.arange(count) * np.pi * (3 - np.sqrt(5))
    return np.stack([np.sqrt(1 - z * z) * np.cos(turn), np.sqrt(1 - z * z) * np.sin(turn), z], 1)


def looking(direction):
    """A pose whose camera is in a direction of the solid: its third row."""
    side = np.linalg.svd(direction[None])[2][1]
    return np.stack([side, np.cross(direction, side), direction])


@pytest.mark.parametrize(("inner", "outer"), [(0.0, 15.0), (0.0, 27.4), (10.0, 25.0)])
def test_from_the_front_alone_the_caps_are_seen(inner, outer):
    # The walls run along the line of sight: what is seen is one side's cap, nearly half where the walls are low. The
    # rim between cap and wall is cut by half a grid step.
    share = Surface(surface(ring(inner, outer))).cumulative(np.eye(3)[None])
    area, _ = sphere_ring(inner, outer)
    assert share == pytest.approx([(cap(outer) - cap(inner)) / area], abs=0.015)


def test_from_all_sides_nothing_convex_is_missed():
    shares = Surface(surface(ring(0.0, 15.0))).cumulative(np.stack([looking(d) for d in sphere_directions(40)]))
    assert (np.diff(shares) >= 0).all()
    assert shares[-1] > 0.995
    front_and_back = np.stack([np.eye(3), rotation.matrix("YAW_POS", 180)])
    two = Surface(surface(ring(0.0, 15.0))).cumulative(front_and_back)
    assert two[1] == pytest.approx(2 * two[0], abs=1e-3)


def test_a_deep_hole_hides_its_wall_and_every_ray_is_the_plain_ones():
    mesh = surface(ring(6.0, 25.0), spacing=3.5)
    solid = Surface(mesh)
    union = np.zeros(len(mesh.faces), np.bool_)
    for direction in sphere_directions(6):
        ours, plain = solid.visible(direction), visibility.visible(mesh.corners, direction)
        # A ray may graze an edge: float32 and float64 then differ, on slivers.
        assert solid.weights[ours != plain].sum() < 1e-3
        union |= plain
    poses = np.stack([looking(d) for d in sphere_directions(6)])
    assert solid.cumulative(poses)[-1] == pytest.approx(solid.weights[union].sum(), abs=2e-3)
    # Looking straight through shows no wall of the hole; the middle of that wall is hidden at 45 degrees as well.
    middle = (np.hypot(*mesh.centroids.T[:2]) < 8) & (np.abs(mesh.centroids[:, 2]) < 5)
    assert middle.sum() > 10
    assert not solid.visible(np.array([1.0, 0.0, 1.0]) / np.sqrt(2))[middle].any()
    assert solid.visible(np.array([np.sin(0.2), 0.0, np.cos(0.2)]))[middle].any()


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    folder = write_tiny_suite(tmp_path_factory.mktemp("coverage") / "tiny")
    suite = load_suite(folder)
    start = np.asarray(suite[0].start, np.float64)
    moves = [("YAW_POS", 30), ("ROLL_POS", 30), ("PITCH_NEG", 10)]
    task = suite.ids[0]
    lines = [
        *episode(task, 0, start, moves, [0.4, 0.5, 0.5, 0.6], "limit"),
        *episode(task, 1, start, [("STOP", 0)], [0.4, 0.4], "stop"),
        *episode(suite.ids[1], 0, np.asarray(suite[1].start, np.float64), moves[:1], [0.3, 0.4], "limit"),
    ]
    identity = {"id": suite.info.id, "version": suite.info.version, "sha256": suite.info.sha256}
    with open_run(folder.parent / "run", {"suite": identity}, device="none") as writer:
        writer.append(lines)
    return load(folder.parent / "run", folder, check=False)


def test_episodes_of_a_run_count_start_steps_and_final_pose(played):
    ticks = []
    found = measure_coverage(played, tick=ticks.append)["p"]
    assert sum(ticks) == 3
    start = np.asarray(played.suite[0].start, np.float64)
    poses = [start]
    for move in [("YAW_POS", 30), ("ROLL_POS", 30), ("PITCH_NEG", 10)]:
        poses.append(rotation.matrix(*move) @ poses[-1])
    mesh = surface(played.suite[0].solid)
    solid = Surface(mesh)
    seen, shares = np.zeros(len(mesh.faces), np.bool_), []
    for pose in poses:
        seen |= solid.visible(pose[2])
        shares.append(100 * mesh.areas[seen].sum() / mesh.areas.sum())
    assert found.before[:3] == pytest.approx(shares[:3], abs=0.05)
    assert found.episode[0] == pytest.approx(shares[3], abs=0.05)
    # Roll shows nothing new; an episode that stops at once has seen its start.
    assert found.before[2] == pytest.approx(shares[1], abs=0.05)
    assert found.episode[1] == pytest.approx(shares[0], abs=0.05)
    assert found.episode[2] > found.before[3] > 0


def test_without_the_ray_library_the_line_says_what_to_install(played, monkeypatch):
    monkeypatch.setattr("rotajax.analysis.coverage.find_spec", lambda module: None)
    with pytest.raises(ValueError, match=r"coverage: expected embreex and scikit-image \(pip install 'rotajax\[cov"):
        measure_coverage(played)


def test_write_run_of_no_suite_has_no_surface(tmp_path):
    from rotajax.analysis import attach
    from rotajax.records import read_run

    run = read_run(write_run(tmp_path / "run"))
    analysis = attach(run, dict.fromkeys(run.tasks, np.eye(3, dtype=np.float32)[None]))
    with pytest.raises(ValueError, match="suite: expected a suite folder, got symmetries only"):
        measure_coverage(analysis)
