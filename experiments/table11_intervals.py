"""Tables 11 and 15: Wilson intervals of successes; with --rates those of the paper's own counts."""

from absl import flags

from experiments import common

POLICIES = flags.DEFINE_list("policies", "pose_greedy,uniform_random", "policies to play")
RATES = flags.DEFINE_list("rates", "", "successes/trials, such as 17/100,5/30, instead of playing")


def experiment() -> None:
    """Tabulate the rates, or play and tabulate."""
    tables = [_of_rates()] if RATES.value else named()
    common.write(tables)


def named() -> list:
    """Return the table of methods that were played."""
    from rotajax.reports.collect import collect

    return common.named(collect(common.entries(POLICIES.value)), "success")


def _of_rates():
    from rotajax.analysis.intervals import wilson
    from rotajax.checks import require
    from rotajax.reports import layout

    rows = []
    for text in RATES.value:
        parts = text.split("/")
        good = len(parts) == 2 and all(part.isdecimal() for part in parts) and 0 < int(parts[1]) >= int(parts[0])
        require(good, "--rates", "successes/trials", repr(text))
        successes, trials = map(int, parts)
        row = {"policy": text, "success": successes, "episodes": trials, "success_pct": 100.0 * successes / trials}
        rows.append(row | wilson(successes, trials).fields("success_pct"))
    return layout.Table("success", "Success", "Wilson intervals of given counts.", layout.SUCCESS, rows)


if __name__ == "__main__":
    common.main(experiment)
