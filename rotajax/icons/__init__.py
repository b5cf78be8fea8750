"""Icons on the host: SVG to mask to filters to outline points; a folder's records with author and licence."""

from rotajax.icons.filters import Measures, judge, measure
from rotajax.icons.foreground import foreground
from rotajax.icons.licence import Credit, credit, read_licences
from rotajax.icons.outline import enclosing_circle, outline_points, plane_circle, plane_points
from rotajax.icons.scan import IconRecord, accepted_mask, read_scan, require_output, scan, write_scan
from rotajax.icons.svg import RasteriserError, SvgError, rasterise, rasteriser_version

__all__ = [
    "Credit",
    "IconRecord",
    "Measures",
    "RasteriserError",
    "SvgError",
    "accepted_mask",
    "credit",
    "enclosing_circle",
    "foreground",
    "judge",
    "measure",
    "outline_points",
    "plane_circle",
    "plane_points",
    "rasterise",
    "rasteriser_version",
    "read_licences",
    "read_scan",
    "require_output",
    "scan",
    "write_scan",
]
