"""What runs say: steps against ground truth, outcomes, associations, matched states, oracles and intervals."""

from rotajax.analysis.angles import angles
from rotajax.analysis.associations import associations
from rotajax.analysis.curves import iou_curve
from rotajax.analysis.differences import differences
from rotajax.analysis.divergence import divergences
from rotajax.analysis.load import Analysis, attach, load
from rotajax.analysis.matched import match, matched_states
from rotajax.analysis.method import Method, Steps
from rotajax.analysis.oracles import oracles
from rotajax.analysis.outcomes import outcomes
from rotajax.analysis.retries import retries
from rotajax.analysis.successors import successor_errors
from rotajax.analysis.summary import summarise, summary_row

__all__ = [
    "Analysis",
    "Method",
    "Steps",
    "angles",
    "associations",
    "attach",
    "differences",
    "divergences",
    "iou_curve",
    "load",
    "match",
    "matched_states",
    "oracles",
    "outcomes",
    "retries",
    "successor_errors",
    "summarise",
    "summary_row",
]
