"""RGBA picture of an SVG that may be hostile: parsed without entities, checked for size, drawn without access."""

import re
from collections import defaultdict
from math import isfinite
from typing import Any
from xml.etree.ElementTree import Element, ParseError, TreeBuilder

import numpy as np

SIZE = 512
MAX_BYTES = 1 << 20
MAX_ATTRIBUTE = 1 << 18  # characters of one attribute: the rasteriser reads path data in quadratic time
MAX_STYLE = 1 << 16  # characters of all <style> elements
MAX_ELEMENTS = 5_000
MAX_DEPTH = 64  # nesting, and with references followed twice that
MAX_DRAWN = 20_000  # elements once every reference is followed
MAX_LENGTH = 1e6  # sides of the viewport and the view box, user units
SVG = "{http://www.w3.org/2000/svg}"
HREFS = ("href", "{http://www.w3.org/1999/xlink}href")
# Refused by name: drawn from outside (image), from the machine's fonts (text), or wrongly by the rasteriser.
REFUSED = frozenset(["image", "feImage", "text", "textPath", "tspan", "tref", "a", "foreignObject"])
REFUSED_PARTS = ("pattern", "marker", "filter")  # the rasteriser takes any tag that contains one of these
URL = re.compile(r"url\(\s*[\"']?\s*([^\"')]*)", re.IGNORECASE)
LENGTH = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(px|pt|pc|mm|cm|in|em|ex|ch|%)?\s*")


class SvgError(ValueError):
    """An SVG that is refused; `code` names the reason, the text is one line.

    Codes: too_many_bytes, no_content, compressed, not_utf8, not_xml, entities, not_svg, too_many_elements,
    too_deep, attribute_too_long, style, element, external_reference, reference_cycle, reference_bomb,
    no_size, zero_size, bad_size, raster_error, memory.
    """

    def __init__(self, code: str, message: str):
        super().__init__(f"icons.svg: {message}")
        self.code = code


class RasteriserError(ValueError):
    """The machine cannot draw SVGs; the text is one line that says what to install."""


def rasterise(data: bytes, *, size: int = SIZE) -> np.ndarray:
    """Return the picture UInt8[size, size, 4] (RGBA, alpha not multiplied in) of the SVG `data`.

    The view box (or, without one, width x height) is fitted into the square as preserveAspectRatio says.
    Nothing is fetched, from the network or from files, and no entity is expanded. Bytes, elements, nesting and
    references are bounded before drawing; time and memory of the drawing itself are bounded by the process of
    its own in which `scan` calls this. Raises SvgError (with a `code`), and RasteriserError without cairo.
    """
    cairosvg = _rasteriser()
    check(data)

    class Pixels(cairosvg.surface.PNGSurface):
        """Hands over the pixels without the PNG packing, which takes longer than the drawing."""

        def finish(self):
            surface: Any = self.cairo
            surface.flush()
            self.output.write(surface.get_data())

    try:
        # The surface by its name, because svg2png does not pass a url_fetcher on.
        pixels: Any = Pixels.convert(
            bytestring=data, output_width=size, output_height=size, unsafe=False, url_fetcher=_refuse
        )
    except SvgError:
        raise
    except MemoryError:
        raise SvgError("memory", "expected a drawing within the memory bound, got one beyond it") from None
    except RecursionError:
        raise SvgError("too_deep", "expected references that end, got too many inside each other") from None
    except Exception as error:  # the rasteriser raises whatever a malformed attribute leads it to
        text = " ".join(str(error).split())[:120]
        raise SvgError("raster_error", f"expected a drawable SVG, got {type(error).__name__}: {text}") from None
    return _straight(np.frombuffer(pixels, np.uint32).reshape(size, size))


def rasteriser_version() -> tuple[str, str]:
    """Return the versions ("cairosvg 2.9.1", "cairo 1.18.0") that decide the pixels; RasteriserError without."""
    cairosvg = _rasteriser()
    import cairocffi

    return f"cairosvg {cairosvg.__version__}", f"cairo {cairocffi.cairo_version_string()}"


def check(data: bytes) -> None:
    """Return nothing for an SVG that may be drawn; raises SvgError with the first reason against it."""
    root = _parse(data)
    elements = list(root.iter())
    if root.tag not in ("svg", SVG + "svg"):
        raise SvgError("not_svg", f"expected the root element <svg>, got <{_short(root.tag)}>")
    for element in elements:
        _check_element(element)
    if sum(len(element.text or "") for element in elements if element.tag.endswith("style")) > MAX_STYLE:
        raise SvgError("style", f"expected at most {MAX_STYLE} characters of style, got more")
    _check_size(root)
    _check_references(root, elements)


def _rasteriser():
    try:
        import cairosvg
    except (ImportError, OSError):  # cairocffi raises OSError where the C library is missing
        raise RasteriserError(
            "icons.svg: expected CairoSVG and the cairo library, got none; install them: pip install cairosvg, and "
            "apt install libcairo2 (Debian, Ubuntu), dnf install cairo (Fedora) or brew install cairo (macOS)"
        ) from None
    return cairosvg


def _straight(pixels: np.ndarray) -> np.ndarray:
    """Return RGBA [H, W, 4] of cairo's native ARGB words with alpha multiplied in, rounded as cairo's PNGs are."""
    alpha = pixels >> 24
    rgba = np.empty((*pixels.shape, 4), np.uint8)
    rgba[..., 3] = alpha
    partial = (alpha > 0) & (alpha < 255)
    share = alpha[partial]
    for channel, shift in enumerate((16, 8, 0)):
        value = (pixels >> shift) & 255
        value[partial] = np.minimum((value[partial] * 255 + share // 2) // share, 255)
        rgba[..., channel] = value
    return rgba


def _refuse(url: str, resource_type: str) -> bytes:
    raise SvgError("external_reference", f"expected no reference to other files, got {url[:80]!r}")


class _Bounded(TreeBuilder):
    """Builds the tree and stops at the first element too many, so that a bomb is never held in memory."""

    def __init__(self):
        super().__init__()
        self.count = self.depth = 0

    def start(self, tag, attrs):
        self.count += 1
        self.depth += 1
        if self.count > MAX_ELEMENTS:
            raise SvgError("too_many_elements", f"expected at most {MAX_ELEMENTS} elements, got more")
        if self.depth > MAX_DEPTH:
            raise SvgError("too_deep", f"expected at most {MAX_DEPTH} nested elements, got more")
        return super().start(tag, attrs)

    def end(self, tag):
        self.depth -= 1
        return super().end(tag)


def _parse(data: bytes) -> Element:
    from defusedxml.common import DefusedXmlException
    from defusedxml.ElementTree import DefusedXMLParser

    if len(data) > MAX_BYTES:
        raise SvgError("too_many_bytes", f"expected at most {MAX_BYTES} bytes, got {len(data)}")
    if not data.strip():
        raise SvgError("no_content", "expected an SVG document, got an empty file")
    if data.startswith(b"\x1f\x8b"):
        raise SvgError("compressed", "expected plain SVG, got gzip (svgz)")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise SvgError("not_utf8", f"expected UTF-8 text, got another byte at {error.start}") from None
    # A document type is allowed, as many drawing programs write one; entities in it are not.
    parser = DefusedXMLParser(target=_Bounded(), forbid_dtd=False, forbid_entities=True, forbid_external=True)
    try:
        parser.feed(data)
        return parser.close()
    except DefusedXmlException as error:
        raise SvgError("entities", f"expected no XML entities, got {type(error).__name__}") from None
    except (ParseError, ValueError, LookupError) as error:
        if isinstance(error, SvgError):
            raise
        raise SvgError("not_xml", f"expected well-formed XML, got {' '.join(str(error).split())[:120]}") from None


def _short(tag: str) -> str:
    return tag.rsplit("}", 1)[-1][:40]


def _check_element(element: Element) -> None:
    name = _short(element.tag)
    known = element.tag in (name, SVG + name)
    if (known and name in REFUSED) or any(part in element.tag.lower() for part in REFUSED_PARTS):
        raise SvgError("element", f"expected shapes, gradients, masks and clips, got <{name}>")
    text = (element.text or "") if name == "style" else ""
    # A backslash can spell url() or @import in letters that the checks below do not read.
    if "\\" in text or "@import" in text.lower() or "url(" in text.lower():
        raise SvgError("style", "expected a style sheet without references or escapes, got one in <style>")
    for key, value in element.attrib.items():
        if len(value) > MAX_ATTRIBUTE:
            raise SvgError(
                "attribute_too_long",
                f"expected at most {MAX_ATTRIBUTE} characters in {_short(key)!r}, got {len(value)}",
            )
        if "url" in value.lower() or key == "style":
            if "\\" in value:
                raise SvgError("style", f"expected no escapes, got a backslash in the attribute {_short(key)!r}")
            for target in URL.findall(value):
                if not target.strip().startswith("#"):
                    _refuse(target, "attribute")
        # A link of a foreign element (an editor's own data) is never followed.
        if known and key in HREFS and name != "script" and not value.startswith("#"):
            _refuse(value, "href")


def _check_size(root: Element) -> None:
    sides = {}
    for name in ("width", "height"):
        text = root.get(name, "100%")
        match = LENGTH.fullmatch(text)
        if match is None or not float(match[1]) <= MAX_LENGTH or float(match[1]) < 0:
            raise SvgError("bad_size", f"expected {name} as a length up to {MAX_LENGTH:.0f}, got {text[:40]!r}")
        sides[name] = float(match[1])
        if sides[name] == 0:
            raise SvgError("zero_size", f"expected {name} above 0, got {text[:40]!r}")
        if match[2] == "%" and root.get("viewBox") is None:
            raise SvgError("no_size", f"expected a viewBox, or width and height in units, got {name} {text[:40]!r}")
    box = root.get("viewBox")
    if box is None:
        return
    try:
        numbers = [float(number) for number in re.split(r"[\s,]+", box.strip())]
    except ValueError:
        numbers = []
    if len(numbers) != 4 or not all(isfinite(number) and abs(number) <= MAX_LENGTH for number in numbers):
        raise SvgError("bad_size", f"expected viewBox as 4 numbers up to {MAX_LENGTH:.0f}, got {box[:40]!r}")
    if min(numbers[2:]) <= 0:
        raise SvgError("zero_size", f"expected viewBox sides above 0, got {box[:40]!r}")


def _check_references(root: Element, elements: list[Element]) -> None:
    """Follow every use, mask, clip, paint and gradient link, and bound what is drawn in the end."""
    named = defaultdict(list)
    for element in elements:
        if element.get("id"):
            named[element.get("id")].append(element)
    cost: dict[int, tuple[int, int]] = {}
    open_: set[int] = set()

    def visit(element: Element) -> tuple[int, int]:
        key = id(element)
        if key in cost:
            return cost[key]
        if key in open_:
            raise SvgError(
                "reference_cycle", f"expected references without a cycle, got one at <{_short(element.tag)}>"
            )
        if len(open_) >= 2 * MAX_DEPTH:
            raise SvgError("too_deep", f"expected references at most {2 * MAX_DEPTH} deep, got more")
        open_.add(key)
        drawn, depth = 1, 0
        links = [value[1:] for name, value in element.attrib.items() if name in HREFS and value[:1] == "#"]
        links += [target.strip()[1:] for value in element.attrib.values() for target in URL.findall(value)]
        for child in [*element, *(target for link in links for target in named.get(link, ()))]:
            below, levels = visit(child)
            drawn, depth = drawn + below, max(depth, levels)
        open_.discard(key)
        if depth + 1 > 2 * MAX_DEPTH:
            raise SvgError("too_deep", f"expected references at most {2 * MAX_DEPTH} deep, got more")
        if drawn > MAX_DRAWN:
            raise SvgError(
                "reference_bomb", f"expected at most {MAX_DRAWN} elements once references are followed, got more"
            )
        cost[key] = drawn, depth + 1
        return cost[key]

    visit(root)
