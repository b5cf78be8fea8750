import hashlib
import json
import shutil
import subprocess

import numpy as np
import pytest

from rotajax.cli import main
from rotajax.tasks import folder
from rotajax.tasks.manifest import icons_folder, make_manifest, materialise, read_manifest, take_split


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def rows(built):
    """The rows of the suite, the first one in the test split, with some reference path."""
    rows = [{k: v for k, v in row.items() if k != "digest"} for row in folder.read_document(built.whole)["tasks"]]
    return [{**row, "reference": [["YAW_POS", 30]], "split": "train" if k else "test"} for k, row in enumerate(rows)]


def written(rows, path, source=None):
    path.write_text(folder.document_text(folder.make_document("some", rows, source=source)))
    return path


def contents(path):
    return {str(file.relative_to(path)): file.read_bytes() for file in path.rglob("*") if file.is_file()}


@pytest.fixture
def refused(tmp_path, capsys):
    """Materialise by the command line, which must end with one line and nothing written; return the line."""

    def run(manifest, icons, *words):
        before = sorted(path.name for path in tmp_path.iterdir())
        command = ["suite", "materialise", str(manifest), "--icons", str(icons), "--out", str(tmp_path / "out")]
        assert main([*command, *words]) == 2
        assert sorted({path.name for path in tmp_path.iterdir()} - {"cache"}) == [n for n in before if n != "cache"]
        return capsys.readouterr().err.splitlines()[-1]

    return run


def git(path, *words):
    options = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *options, *words], cwd=path, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def repository(built, tmp_path):
    """A repository whose commit before the last holds the icons; the last one empties one of them."""
    path = tmp_path / "repo.git"
    shutil.copytree(built.icons, path)
    git(path, "init", "--quiet")
    git(path, "add", ".")
    git(path, "commit", "--quiet", "-m", "icons")
    commit = git(path, "rev-parse", "HEAD")
    next(path.rglob("*.svg")).write_text("")
    git(path, "commit", "--quiet", "-am", "another")
    return path, commit


def test_the_icons_make_the_very_suite_again(built, rows, tmp_path):
    manifest = read_manifest(written(rows, tmp_path / "some.json"))
    document = materialise(manifest, built.icons, tmp_path / "out", workers=1)
    assert document == manifest
    assert folder.read_document(tmp_path / "out")["sha256"] == manifest["sha256"]
    made, whole = contents(tmp_path / "out"), contents(built.whole)
    assert set(made) == set(whole)
    assert all(made[name] == whole[name] for name in made if name != "suite.json")


def test_one_split_alone(built, rows, tmp_path, capsys):
    path = written(rows, tmp_path / "some.json")
    command = ["suite", "materialise", str(path), "--icons", str(built.icons), "--split", "test", "--workers", "1"]
    assert main([*command, "--out", str(tmp_path / "out")]) == 0
    document = folder.read_document(tmp_path / "out")
    assert (document["id"], [row["id"] for row in document["tasks"]]) == ("some-test", [rows[0]["id"]])
    assert [mask.stem for mask in (tmp_path / "out" / "masks").iterdir()] == [rows[0]["id"]]
    assert document == take_split(read_manifest(path), "test")
    assert "some-test version 1: 1 tasks" in capsys.readouterr().out


def test_git_fetches_the_commit_that_the_manifest_names_once(built, rows, repository, tmp_path, cache, monkeypatch):
    path, commit = repository
    source = {"repository": f"file://{path}", "commit": commit}
    manifest = read_manifest(written(rows, tmp_path / "some.json", source))
    # The last commit has another icon: it is not that one.
    checkout = icons_folder("git", manifest["source"])
    assert checkout == cache / "rotajax" / "checkouts" / commit
    materialise(manifest, checkout, tmp_path / "out", workers=1)
    assert folder.read_document(tmp_path / "out")["source"] == source
    # Its address on the command line, as a URL and as a path, also one relative to where the user is.
    for address in (f"file://{path}", str(path), path.name):
        monkeypatch.chdir(tmp_path)
        shutil.rmtree(checkout)
        assert icons_folder(address, source) == checkout
        assert (checkout / "license.txt").is_file()
    # Once: the repository may be gone.
    shutil.rmtree(path)
    assert icons_folder("git", source) == checkout


def test_a_checkout_that_was_killed_is_made_anew(repository, cache):
    path, commit = repository
    checkout = cache / "rotajax" / "checkouts" / commit
    checkout.mkdir(parents=True)
    git(checkout, "init", "--quiet")
    for lock in ("index.lock", "shallow.lock"):
        (checkout / ".git" / lock).touch()
    (checkout / "stray.svg").write_text("half")
    assert icons_folder(str(path), {"repository": "", "commit": commit}) == checkout
    assert (checkout / "license.txt").is_file()
    assert not (checkout / "stray.svg").exists()


def test_what_git_cannot_is_one_line(rows, repository, refused, tmp_path, monkeypatch):
    source = {"repository": f"file://{repository[0]}", "commit": "0" * 40}
    line = refused(written(rows, tmp_path / "some.json", source), "git")
    assert line.startswith("rotajax: materialise: git fetch: expected success, got ")
    line = refused(tmp_path / "some.json", f"file://{tmp_path}/nowhere.git")
    assert line.startswith("rotajax: materialise: git fetch: expected success, got ")
    line = refused(written(rows, tmp_path / "none.json"), "git")
    assert line == "rotajax: materialise: --icons: expected a folder: this manifest names no repository, got 'git'"
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "expected the program git, got none" in refused(tmp_path / "some.json", "git")


@pytest.mark.parametrize("commit", ["main", "../../x", "--upload-pack=touch x", "b659ba7", None, "0" * 41])
def test_a_source_that_is_no_commit_is_refused(rows, refused, tmp_path, commit):
    line = refused(written(rows, tmp_path / "some.json", {"repository": "file:///x", "commit": commit}), "git")
    assert line.endswith(f"source: commit: expected 40 hexadecimal digits, got {commit!r}")


def test_an_address_that_is_an_option_is_none(rows, refused, tmp_path):
    source = {"repository": f"--upload-pack=touch {tmp_path}/owned;", "commit": "0" * 40}
    assert "git fetch: expected success" in refused(written(rows, tmp_path / "some.json", source), "git")
    assert not (tmp_path / "owned").exists()


def test_icons_that_are_missing_or_other_ones_are_named(built, rows, refused, tmp_path):
    icons = tmp_path / "icons"
    shutil.copytree(built.icons, icons)
    gone, other = icons / rows[0]["icon"]["path"], icons / rows[1]["icon"]["path"]
    gone.unlink()
    other.write_bytes(other.read_bytes() + b"\n")
    line = refused(written(rows, tmp_path / "some.json"), icons)
    assert f"materialise: icons in '{icons}': expected the 3 icons of the manifest, got 2 that are not: " in line
    assert f"{rows[0]['icon']['path']} is missing" in line
    assert f"{rows[1]['icon']['path']} has sha256 " in line
    assert f"..., not {rows[1]['icon']['sha256'][:12]}..." in line


def test_a_path_that_leaves_the_folder_is_refused(built, rows, refused, tmp_path):
    secret = tmp_path / "secret.svg"
    shutil.copy(built.icons / rows[0]["icon"]["path"], secret)
    icons = tmp_path / "icons"
    shutil.copytree(built.icons, icons)
    (icons / "link.svg").symlink_to(secret)
    for path in ("../secret.svg", str(secret), "link.svg"):
        rows[0] = {**rows[0], "icon": {**rows[0]["icon"], "path": path}}
        line = refused(written(rows, tmp_path / "some.json"), icons)
        assert f"{path} lies outside the folder" in line


def test_another_mask_names_the_task(built, rows, refused, tmp_path):
    rows[1] = {**rows[1], "mask_sha256": folder.mask_sha256(np.zeros((512, 512), np.bool_))}
    line = refused(written(rows, tmp_path / "some.json"), built.icons, "--workers", "1")
    assert f"materialise: task {rows[1]['id']} ({rows[1]['icon']['path']}): expected the mask" in line
    assert line.endswith("another version of cairo draws it")


def test_an_icon_that_does_not_pass_the_filters_names_the_task(built, rows, refused, tmp_path):
    icons = tmp_path / "icons"
    shutil.copytree(built.icons, icons)
    for row, text in ((rows[0], b"<svg/>"), (rows[1], b"no svg")):
        (icons / row["icon"]["path"]).write_bytes(text)
        row["icon"] = {**row["icon"], "sha256": hashlib.sha256(text).hexdigest()}
        line = refused(written([row], tmp_path / "some.json"), icons, "--workers", "1")
        assert f"task {row['id']} ({row['icon']['path']}): expected a drawing that passes the filters, got " in line


def test_a_manifest_that_was_changed_is_refused(built, rows, refused, tmp_path):
    path = written(rows, tmp_path / "some.json")
    text = path.read_text()
    path.write_text(text.replace(f'"seed": {rows[1]["seed"]}', '"seed": 5'))
    assert f"task {rows[1]['id']} was changed: digest" in refused(path, built.icons)
    path.write_text(text.replace('"id": "some"', '"id": "same"'))
    assert "was changed: sha256" in refused(path, built.icons)
    path.write_text("{")
    assert "expected JSON in UTF-8" in refused(path, built.icons)
    assert "manifest: expected a file or one of: " in refused(tmp_path / "nothing.json", built.icons)
    assert "expected a file, got a folder" in refused(tmp_path, built.icons)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"id": "../../owned"}, "id: expected a name of letters"),
        ({"icon": None}, "icon: expected an object with texts path, author, licence, sha256, got None"),
        (
            {"icon": {"path": 7, "author": "a", "licence": "b", "sha256": "c"}},
            "icon: expected an object with texts path",
        ),
        ({"start": ["UP"]}, "start: expected a list of directions"),
        ({"mask_sha256": None}, "mask_sha256: expected a hash"),
        ({"circle": [0, 0, 0]}, "circle: expected centre and positive radius"),
    ],
)
def test_rows_that_another_program_wrote_wrong_are_refused(built, rows, refused, tmp_path, change, message):
    rows[1] = {**rows[1], **change}
    assert message in refused(written(rows, tmp_path / "some.json"), built.icons)


def test_what_is_in_the_way_and_unknown_splits_are_refused(built, rows, tmp_path, refused, capsys):
    path = written(rows, tmp_path / "some.json")
    assert "split: expected one of ['test', 'train'], got 'dev'" in refused(path, built.icons, "--split", "dev")
    assert "got nothing at" in refused(path, tmp_path / "no-icons")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("mine")
    assert "expected a new or empty folder, got a folder with files in it" in refused(path, built.icons)
    assert (tmp_path / "out" / "mine").read_text() == "mine"
    # A row of no split is in none.
    del rows[2]["split"]
    assert len(take_split(folder.make_document("some", rows), "train")["tasks"]) == 1


def test_a_searched_suite_has_a_manifest_with_the_split_of_appendix_i(rows):
    many = [{**rows[0], "id": f"t{k:03d}", "reference": [["YAW_POS", 30]] * (3 + k % 4)} for k in range(160)]
    document = folder.make_document("many", many)
    source = {"repository": "https://example.org/icons.git", "commit": "a" * 40}
    manifest = make_manifest(document, 0, source)
    assert manifest == make_manifest(manifest, 0, source)
    assert manifest["source"] == source
    test = take_split(manifest, "test")["tasks"]
    assert len(test) == 100
    assert len(take_split(manifest, "train")["tasks"]) == 60
    assert {len(row["reference"]) for row in test} == {4, 5, 6}
    assert make_manifest(document, 1, source)["sha256"] != manifest["sha256"]
    with pytest.raises(ValueError, match="suite manifest: source: commit: expected 40 hexadecimal digits"):
        make_manifest(document, 0, {"repository": "x", "commit": "b659ba7"})
    many[5]["reference"] = None
    with pytest.raises(ValueError, match=r"^suite manifest: task t005: expected a reference path, got none$"):
        make_manifest(folder.make_document("many", many), 0, None)
    assert json.loads(folder.document_text(manifest)) == manifest
