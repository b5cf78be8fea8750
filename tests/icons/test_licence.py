"""Authors and licences out of license.txt."""

import pytest

from rotajax.icons import Credit, credit, read_licences

TEXT = """Icons provided under the Creative Commons 3.0 BY or CC0 if mentioned below.

- Lorc, http://lorcblog.blogspot.com
- Sbed, http://example.org/content/95-game-icons
- Viscious Speed, http://viscious-speed.example.org - CC0
- HeavenlyDog
- Zeromancer - CC0
- Lucas

Please, include a mention "Icons made by {author}" in your derivative work.
"""


def listed(folder, text=TEXT):
    (folder / "license.txt").write_text(text, encoding="utf-8")
    return read_licences(folder)


@pytest.mark.parametrize(
    ("path", "author", "licence"),
    [
        ("lorc/a.svg", "Lorc", "CC BY 3.0"),
        ("lorc/deep/er/a.svg", "Lorc", "CC BY 3.0"),
        ("sbed/a.svg", "Sbed", "CC BY 3.0"),
        ("viscious-speed/a.svg", "Viscious Speed", "CC0"),
        ("heavenly-dog/a.svg", "HeavenlyDog", "CC BY 3.0"),
        ("zeromancer/a.svg", "Zeromancer", "CC0"),
        ("lucasms/a.svg", "Lucas", "CC BY 3.0"),
        ("badges/a.svg", "badges", "unlisted"),
        ("a.svg", "", "unlisted"),
    ],
)
def test_folder_to_credit(tmp_path, path, author, licence):
    assert credit(path, listed(tmp_path)) == Credit(author=author, licence=licence)


def test_a_list_of_one_covers_the_files_beside_it(tmp_path):
    assert credit("a.svg", listed(tmp_path, "- Ann Onym - CC0\n")) == Credit(author="Ann Onym", licence="CC0")


def test_no_list(tmp_path):
    assert read_licences(tmp_path) == {}


def test_list_that_is_not_text(tmp_path):
    (tmp_path / "license.txt").write_bytes(b"- caf\xe9\n")
    with pytest.raises(ValueError, match=r"icons.licence: expected UTF-8 text in '.*license.txt', got"):
        read_licences(tmp_path)


def test_author_listed_twice(tmp_path):
    with pytest.raises(ValueError, match=r"every author once in .* 'LORC' twice"):
        listed(tmp_path, "- Lorc\n- LORC - CC0\n")
