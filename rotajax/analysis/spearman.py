"""`spearman`: rank correlation with the chosen angle, and the same in every resample of tasks, exactly.

Ranks change from resample to resample. A task drawn c times stands in it c times, so that the rank of a value is the
weight below it plus half of (its own weight + 1), the average rank of ties. Sums over these ranks are then forms in
the counts c: the rank sum of an angle is c' M c + half the angle's weight, where M counts, for two tasks, how many
values of one lie below those of the other; the variance needs the cubes of the weights of tied values only. 10,000
resamples are a few matrix products instead of 10,000 sorts, and the same numbers.
"""

import numpy as np
from scipy import sparse

_CELLS = 4_000_000  # of the tables made at a time: bounds the memory, 32 MB


def spearman(level: np.ndarray, value: np.ndarray, task: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return Spearman's rho of a column of few levels with a column of values in every resample, float64 [B].

    level: int [N], the few-valued column, e.g. the angle; value: float [N]; task: int [N], [0, T); counts: [B, T], how
    often each task is drawn. NaN where a column is constant in the resample, or nothing is drawn.
    """
    levels, level = np.unique(level, return_inverse=True)
    tasks = counts.shape[1]
    ties = _ties(value, task, tasks)
    below = _below(level, value, task, len(levels), tasks)
    weight = np.stack([counts @ np.bincount(task[level == k], minlength=tasks) for k in range(len(levels))], axis=1)
    total = weight.sum(axis=1)
    rank = np.cumsum(weight, axis=1) - (weight - 1.0) / 2.0  # of each level
    products = np.zeros(len(counts))
    for k in range(len(levels)):
        sums = np.einsum("bt,bt->b", counts @ below[k], counts) + weight[:, k] / 2.0
        products += rank[:, k] * sums
    covariance = products - total * ((total + 1.0) / 2.0) ** 2
    variances = [(total**3 - cubes) / 12.0 for cubes in ((weight**3).sum(axis=1), _cubes(ties, counts))]
    defined = (variances[0] > 0) & (variances[1] > 0)
    scale = np.sqrt(np.where(defined, variances[0], 1.0)) * np.sqrt(np.where(defined, variances[1], 1.0))
    return np.where(defined, np.clip(covariance / scale, -1.0, 1.0), np.nan)


def _ties(value: np.ndarray, task: np.ndarray, tasks: int) -> sparse.csr_array:
    """Return how often each distinct value, in rising order, occurs in each task, [V, T]."""
    distinct, index = np.unique(value, return_inverse=True)
    ones = np.ones(len(value))
    return sparse.csr_array((ones, (index, task)), shape=(len(distinct), tasks))


def _below(level: np.ndarray, value: np.ndarray, task: np.ndarray, levels: int, tasks: int) -> np.ndarray:
    """Return for each level, and two tasks a and b, the pairs (of a at the level, of b) with b below, ties half.

    Float64 [levels, T, T].
    """
    ties = _ties(value, task, tasks)
    chosen = _ties(value, level * tasks + task, levels * tasks)
    found = np.zeros((levels * tasks, tasks))
    carried = np.zeros(tasks)
    block = max(1, _CELLS // tasks)
    for start in range(0, len(np.unique(value)), block):
        own = ties[start : start + block].toarray()
        upto = np.cumsum(own, axis=0) + carried
        found += chosen[start : start + block].T @ (upto - own / 2.0)
        carried = upto[-1]
    return found.reshape(levels, tasks, tasks)


def _cubes(ties: sparse.csr_array, counts: np.ndarray) -> np.ndarray:
    """Return the sum of the cubes of the weights of tied values in every resample, [B]."""
    shared = np.diff(ties.indptr) > 1
    # A value that one task alone has: m occurrences weigh m c, so its cube is a number times the cube of c.
    own = ties[~shared].power(3).sum(axis=0)
    found = counts**3 @ own
    mixed = ties[shared].T.tocsc()
    block = max(1, _CELLS // len(counts))
    for start in range(0, mixed.shape[1], block):
        found += ((counts @ mixed[:, start : start + block]) ** 3).sum(axis=1)
    return found
