"""What a run was asked, as JSON values: the suite, the numbers of the rules, the devices."""

import dataclasses
from typing import Any

import jax
import numpy as np

from rotajax.env.state import Params
from rotajax.tasks.suite import Suite


def suite_identity(suite: Suite) -> dict:
    """Return what identifies a suite: id, version, sha256."""
    return {"id": suite.info.id, "version": suite.info.version, "sha256": suite.info.sha256}


def rule_numbers(params: Params) -> dict[str, int | float]:
    """Return the numbers of the rules by name."""
    return {field.name: _plain(getattr(params, field.name)) for field in dataclasses.fields(params)}


def device_names() -> str:
    """Return how many devices of which kind there are."""
    devices = jax.devices()
    return f"{len(devices)} x {devices[0].device_kind}"


def _plain(number: Any) -> int | float:
    """Return a rule's number for JSON; a float32 as the shortest decimal that reads back as the same."""
    value = np.asarray(number)
    return float(str(value)) if value.dtype == np.float32 else value.item()
