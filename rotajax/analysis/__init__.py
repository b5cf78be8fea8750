"""What runs say: steps against ground truth, outcomes, associations, matched states, oracles and intervals."""

from rotajax.analysis.load import Analysis, attach, load
from rotajax.analysis.method import Method, Steps
from rotajax.analysis.summary import summarise

__all__ = ["Analysis", "Method", "Steps", "attach", "load", "summarise"]
