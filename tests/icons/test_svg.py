"""Hostile and odd SVGs: each is drawn as it says or refused with its code; nothing is fetched."""

import gzip
import socket
import subprocess
import sys
import urllib.request

import numpy as np
import pytest

from rotajax.icons import SvgError, rasterise
from rotajax.icons.svg import MAX_BYTES, MAX_DEPTH, MAX_ELEMENTS

HEAD = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 512 512"'
SQUARE = '<rect x="128" y="128" width="256" height="256" fill="#fff"/>'


def svg(body: str, head: str = HEAD, before: str = "") -> bytes:
    return f"{before}{head}>{body}</svg>".encode()


def uses(levels: int, each: int) -> str:
    rows = ['<g id="l0"><path d="M0 0h1v1z"/></g>']
    for level in range(1, levels):
        rows.append(f'<g id="l{level}">' + f'<use href="#l{level - 1}"/>' * each + "</g>")
    return f"<defs>{''.join(rows)}</defs>" + f'<use href="#l{levels - 1}"/>'


def masks(levels: int, each: int) -> str:
    rows = ['<mask id="l0"><path d="M0 0h1v1z"/></mask>']
    for level in range(1, levels):
        inside = f'<path d="M0 0h1v1z" mask="url(#l{level - 1})"/>' * each
        rows.append(f'<mask id="l{level}">{inside}</mask>')
    return "".join(rows) + f'<path d="M0 0h9v9z" style="mask: url( \'#l{levels - 1}\' )"/>'


LAUGHS = "<!DOCTYPE svg [<!ENTITY a 'ha'>" + "".join(
    f"<!ENTITY {b} '{f'&{a};' * 10}'>" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)
EXTERNAL = "<!DOCTYPE svg [<!ENTITY x SYSTEM 'file:///etc/hostname'>]>"
REFUSED = {
    "empty": (b"", "no_content"),
    "blank": (b" \n\t ", "no_content"),
    "text": (b"just some words\n", "not_xml"),
    "torn": (svg(SQUARE)[:-8], "not_xml"),
    "binary": (bytes(range(256)), "not_utf8"),
    "latin-1": (svg("<!-- caf\xe9 -->").decode().encode("latin-1"), "not_utf8"),
    "null": (svg(SQUARE) + b"\0", "not_xml"),
    "html": (b"<html><body/></html>", "not_svg"),
    "foreign root": (b'<svg xmlns="http://example.org/other"/>', "not_svg"),
    "svgz": (gzip.compress(svg(SQUARE)), "compressed"),
    "too many bytes": (svg(f"<!--{'x' * MAX_BYTES}-->"), "too_many_bytes"),
    "billion laughs": (svg("&i;", before=LAUGHS + "]>"), "entities"),
    "external entity": (svg("<desc>&x;</desc>", before=EXTERNAL), "entities"),
    "parameter entity": (
        svg(SQUARE, before="<!DOCTYPE svg [<!ENTITY % p SYSTEM 'http://127.0.0.1/'>%p;]>"),
        "entities",
    ),
    "many elements": (svg("<g/>" * (MAX_ELEMENTS + 1)), "too_many_elements"),
    "deep nesting": (svg("<g>" * MAX_DEPTH + "</g>" * MAX_DEPTH), "too_deep"),
    "deeper nesting": (svg("<g>" * 100_000 + "</g>" * 100_000), "too_deep"),
    "unclosed nesting": (svg("<g>" * 100_000), "too_deep"),
    "use bomb": (svg(uses(9, 10)), "reference_bomb"),
    "mask bomb": (svg(masks(9, 10)), "reference_bomb"),
    "use cycle": (svg('<g id="a"><use href="#a"/></g>'), "reference_cycle"),
    "mask cycle": (svg('<mask id="a"><path d="M0 0h9v9z" mask="url(#a)"/></mask>'), "reference_cycle"),
    "gradient cycle": (
        svg('<linearGradient id="a" href="#b"/><linearGradient id="b" xlink:href="#a"/>'),
        "reference_cycle",
    ),
    "use chain": (svg(uses(2 * MAX_DEPTH, 1)), "too_deep"),
    "long path": (svg(f'<path d="M0 0{"h1" * 200_000}"/>'), "attribute_too_long"),
    "file image": (svg('<image href="file:///etc/hostname" width="9" height="9"/>'), "element"),
    "http image": (svg('<image xlink:href="http://127.0.0.1:9/a.png" width="9" height="9"/>'), "element"),
    "data image": (svg('<image href="data:image/svg+xml,%3Csvg/%3E" width="9" height="9"/>'), "element"),
    "file use": (svg('<use href="file:///etc/hostname#a"/>'), "external_reference"),
    "relative use": (svg('<use xlink:href="other.svg#a"/>'), "external_reference"),
    "http fill": (svg('<path d="M0 0h9v9z" fill="url(http://127.0.0.1:9/#a)"/>'), "external_reference"),
    "style url": (svg("<style>path { fill: url(http://127.0.0.1:9/#a) }</style>"), "style"),
    "style import": (svg("<style>@import 'http://127.0.0.1:9/a.css';</style>"), "style"),
    "style escape": (svg(r"<style>path { mask: \75 rl(#a) }</style>"), "style"),
    "attribute escape": (svg(r'<path d="M0 0h9v9z" style="mask: \75 rl(#a)"/>'), "style"),
    "letters": (svg('<text y="99">Aa</text>'), "element"),
    "pattern": (svg('<pattern id="p" width="1e-6" height="1e-6"/>'), "element"),
    "disguised pattern": (svg('<xpattern id="p" width="1e-6" height="1e-6"/>'), "element"),
    "zero width": (svg(SQUARE, '<svg xmlns="http://www.w3.org/2000/svg" width="0" height="9"'), "zero_size"),
    "zero box": (svg(SQUARE, '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 0 9"'), "zero_size"),
    "negative width": (svg(SQUARE, '<svg xmlns="http://www.w3.org/2000/svg" width="-4" height="9"'), "bad_size"),
    "huge width": (svg(SQUARE, '<svg xmlns="http://www.w3.org/2000/svg" width="1e12" height="9"'), "bad_size"),
    "infinite width": (svg(SQUARE, '<svg xmlns="http://www.w3.org/2000/svg" width="1e999" height="9"'), "bad_size"),
    "word width": (svg(SQUARE, '<svg xmlns="http://www.w3.org/2000/svg" width="wide" height="9"'), "bad_size"),
    "three box": (svg(SQUARE, '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9"'), "bad_size"),
    "nan box": (svg(SQUARE, '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 nan 9"'), "bad_size"),
    "no size": (svg(SQUARE, '<svg xmlns="http://www.w3.org/2000/svg"'), "no_size"),
    "percent, no box": (svg(SQUARE, '<svg xmlns="http://www.w3.org/2000/svg" width="50%" height="9"'), "no_size"),
    "bad opacity": (svg('<path d="M0 0h9v9z" opacity="much"/>'), "raster_error"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_by_name(name, monkeypatch):
    def no_access(*args, **kwargs):
        raise AssertionError("a refused SVG reached for a file or the network")

    monkeypatch.setattr(socket, "socket", no_access)
    monkeypatch.setattr(urllib.request, "urlopen", no_access)
    data, code = REFUSED[name]
    with pytest.raises(SvgError) as caught:
        rasterise(data)
    assert caught.value.code == code
    line = str(caught.value)
    assert line.startswith("icons.svg: expected ")
    assert "\n" not in line
    assert len(line) < 300


def square_of(data: bytes) -> tuple[int, int, int, int]:
    v, u = np.nonzero(rasterise(data)[..., :3].sum(axis=2) > 384)
    return int(u.min()), int(v.min()), int(u.max()) + 1, int(v.max()) + 1


SAME = {
    "view box": svg(SQUARE),
    "no name space": svg(SQUARE, '<svg viewBox="0 0 512 512"'),
    "byte order mark": b"\xef\xbb\xbf" + svg(SQUARE),
    "document type": svg(
        SQUARE, before='<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://127.0.0.1:9/svg11.dtd">'
    ),
    "size only": svg(SQUARE, '<svg xmlns="http://www.w3.org/2000/svg" width="512" height="512px"'),
    "percent": svg(SQUARE, HEAD + ' width="100%" height="50%"'),
    "small": svg(SQUARE, HEAD + ' width="1mm" height="1mm"'),
    "large": svg(SQUARE, HEAD + ' width="900000" height="900000"'),
    "percent rectangle": svg('<rect x="25%" y="25%" width="50%" height="50%" fill="white"/>'),
    "transform": svg('<g transform="translate(128 128) scale(2)"><path fill="#fff" d="M0 0h128v128H0z"/></g>'),
    "turned": svg('<path transform="rotate(90 256 256)" fill="#fff" d="M128 128h256v256h-256z"/>'),
    "style": svg('<style>.a{fill:#fff}</style><path class="a" d="M128 128h256v256h-256z"/>'),
    "use": svg(f'<defs><g id="a">{SQUARE}</g></defs><use xlink:href="#a"/>'),
    "clip": svg(f'<clipPath id="c">{SQUARE}</clipPath><path clip-path="url(#c)" fill="#fff" d="M0 0h512v512H0z"/>'),
    "gradient": svg(
        '<linearGradient id="g"><stop offset="0" stop-color="#fff"/><stop offset="1" stop-color="#eee"/>'
        '</linearGradient><path fill="url(#g)" d="M128 128h256v256h-256z"/>'
    ),
    "nested": svg(f'<svg width="512" height="512" viewBox="0 0 512 512">{SQUARE}</svg>'),
    "editor's data": svg('<e:image xmlns:e="http://example.org/e" href="file:///etc/hostname"/>' + SQUARE),
    "script": svg(f"<script>while(1);</script>{SQUARE}"),
}


@pytest.mark.parametrize("name", SAME)
def test_odd_but_drawn(name):
    assert square_of(SAME[name]) == (128, 128, 384, 384)


def test_wide_box_is_fitted_and_centred():
    data = svg('<rect width="200" height="100" fill="#fff"/>', '<svg viewBox="0 0 200 100"')
    assert square_of(data) == (0, 128, 512, 384)


def test_pixels_are_those_of_the_png():
    import io

    import cairosvg
    from PIL import Image

    data = svg(
        '<radialGradient id="g"><stop offset="0" stop-color="#f80"/>'
        '<stop offset="1" stop-color="#08f" stop-opacity="0"/></radialGradient>'
        '<circle cx="256" cy="256" r="250" fill="url(#g)"/><circle cx="99" cy="99" r="50" opacity=".3"/>'
    )
    png = cairosvg.svg2png(bytestring=data, output_width=512, output_height=512)
    with Image.open(io.BytesIO(png)) as picture:
        assert np.array_equal(np.asarray(picture.convert("RGBA")), rasterise(data))


def test_a_machine_without_cairo_is_told_what_to_install():
    program = (
        "import builtins\nreal = builtins.__import__\n"
        "def fake(name, *rest):\n"
        "    if name.split('.')[0] in ('cairosvg', 'cairocffi'):\n"
        "        raise OSError('no library called \"cairo-2\" was found')\n"
        "    return real(name, *rest)\n"
        "builtins.__import__ = fake\n"
        "from rotajax.icons import RasteriserError, outline_points, rasterise, scan\n"
        "for call in (lambda: rasterise(b'<svg/>'), lambda: scan('.')):\n"
        "    try:\n        call()\n"
        "    except RasteriserError as error:\n        print(error)\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    lines = run.stdout.splitlines()
    assert len(lines) == 2
    assert all("libcairo2" in line and "pip install cairosvg" in line for line in lines)
