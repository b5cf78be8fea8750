"""Tokens, prices and budgets by hand."""

import json

import pytest

from rotajax.solvers.estimate import TURNS, TYPICAL_TURNS, estimate
from rotajax.solvers.price import FORMAT, Budget, Price, find_price, read_prices
from rotajax.solvers.question import CONDITIONS
from rotajax.solvers.reply import Stopped
from rotajax.solvers.usage import NOTHING, Usage, read_usage


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, Usage()),
        ("many", Usage()),
        ({"total_tokens": 9}, Usage()),
        ({"prompt_tokens": True, "completion_tokens": 2}, Usage()),
        ({"prompt_tokens": -1, "completion_tokens": 2}, Usage()),
        ({"prompt_tokens": 10, "completion_tokens": 4}, Usage(10, 0, 4, 0, True)),
        ({"prompt_tokens": 10, "completion_tokens": None}, Usage(10, 0, 0, 0, True)),
        # OpenAI: cached within prompt, reasoning within completion.
        (
            {
                "prompt_tokens": 100,
                "completion_tokens": 40,
                "total_tokens": 140,
                "prompt_tokens_details": {"cached_tokens": 64},
                "completion_tokens_details": {"reasoning_tokens": 30},
            },
            Usage(100, 64, 40, 30, True),
        ),
        # Reasoning beside completion: the total tells.
        (
            {
                "prompt_tokens": 100,
                "completion_tokens": 10,
                "total_tokens": 140,
                "completion_tokens_details": {"reasoning_tokens": 30},
            },
            Usage(100, 0, 40, 30, True),
        ),
        ({"prompt_tokens": 9, "completion_tokens": 1, "prompt_cache_hit_tokens": 5}, Usage(9, 5, 1, 0, True)),
        (
            {"input_tokens": 9, "output_tokens": 1, "input_tokens_details": {"cached_tokens": 50}},
            Usage(9, 9, 1, 0, True),
        ),
        ({"prompt_tokens": 9, "completion_tokens": 1, "prompt_tokens_details": None}, Usage(9, 0, 1, 0, True)),
    ],
)
def test_usage_counts_each_token_once(given, expected):
    assert read_usage(given) == expected


def test_usage_adds_up_and_says_whether_it_is_whole():
    whole = Usage(1, 1, 2, 1, True)
    assert whole + whole == Usage(2, 2, 4, 2, True)
    assert sum([whole, whole], NOTHING).known
    assert not sum([whole, Usage()], NOTHING).known


def test_the_papers_cost_of_a_run():
    # Table 20, GPT-5.6-Sol: 28,883,151 and 853,753 tokens at 5 and 30 USD a million.
    price = Price(input=5.0, output=30.0)
    assert price.cost(Usage(28_883_151, 0, 853_753, 0, True)) == pytest.approx(170.0283, abs=5e-5)


def test_cached_and_reasoning_tokens_cost_once():
    price = Price(input=5.0, output=30.0, cached_input=0.5)
    usage = Usage(prompt=1_000_000, cached=400_000, completion=100_000, reasoning=90_000, known=True)
    assert price.cost(usage) == pytest.approx(0.6 * 5 + 0.4 * 0.5 + 0.1 * 30)
    assert Price(5.0, 30.0).cost(usage) == pytest.approx(5 + 3)


def write(path, models, **more):
    path.write_text(json.dumps({"format": FORMAT, "models": models, **more}))
    return path


def test_a_price_file(tmp_path):
    rates = {"m": {"input": 5, "cached_input": 0.5, "output": 30}, "n": {"input": 0, "output": 1.5, "note": "free"}}
    prices = read_prices(write(tmp_path / "p.json", rates, currency="USD"))
    assert prices == {"m": Price(5, 30, 0.5), "n": Price(0, 1.5)}
    assert find_price(prices, "m").output == 30
    with pytest.raises(ValueError, match="prices: model: expected one of m, n, got 'x'"):
        find_price(prices, "x")


@pytest.mark.parametrize(
    ("models", "line"),
    [
        ({"m": {"input": 5}}, "m: expected input and output, got no output"),
        ({"m": {"input": -5, "output": 1}}, "m: input: expected currency a million tokens, at least 0, got -5"),
        ({"m": {"input": True, "output": 1}}, "m: input: expected"),
        ({"m": {"input": "5", "output": 1}}, "m: input: expected"),
        ({"m": {"input": 5, "output": 1, "cached_input": [1]}}, "m: cached_input: expected"),
        ({"m": 5}, "m: expected rates by name, got 5"),
    ],
)
def test_wrong_prices(tmp_path, models, line):
    with pytest.raises(ValueError, match=line):
        read_prices(write(tmp_path / "p.json", models))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "other/1", "models": {}}', "[" * 100_000])
def test_files_that_are_no_price_file(tmp_path, text):
    (tmp_path / "p.json").write_text(text)
    with pytest.raises(ValueError, match=r"prices '.*p\.json': expected"):
        read_prices(tmp_path / "p.json")
    with pytest.raises(ValueError, match="prices: expected a file, got nothing"):
        read_prices(tmp_path / "absent.json")


def test_a_price_made_by_hand_is_checked_too():
    with pytest.raises(ValueError, match="price: output: expected"):
        Price(1.0, float("nan"))


def test_a_budget_stops_before_it_is_overspent():
    budget = Budget(limit=1.0)
    for _ in range(3):
        budget.begin()
        budget.end(0.3)
    assert budget.spent == pytest.approx(0.9)
    with pytest.raises(Stopped, match=r"--max-cost: spent 0\.9000 of 1, 0 requests in flight, up to 0\.3000 each"):
        budget.begin()
    assert budget.in_flight == 0


def test_answers_in_flight_count_at_the_dearest_so_far():
    budget = Budget(limit=1.0, spent=0.5)
    budget.begin()
    budget.end(0.2)
    budget.begin()
    with pytest.raises(Stopped):
        budget.begin()
    budget.end(0.01)
    budget.begin()
    assert (budget.spent, budget.in_flight) == (pytest.approx(0.71), 1)


def test_no_limit_and_a_limit_of_nothing():
    free = Budget()
    for _ in range(100):
        free.begin()
    free.end(1e9)
    free.begin()
    with pytest.raises(Stopped):
        Budget(limit=0.0).begin()
    with pytest.raises(Stopped):
        Budget(limit=1.0, spent=1.0).begin()
    for wrong in (-1.0, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="--max-cost"):
            Budget(limit=wrong)


def test_the_estimate_grows_with_the_history():
    full, alone = (estimate(10, CONDITIONS[name], 3, Price(5.0, 30.0)) for name in ("full", "no_history"))
    assert full.requests == alone.requests == 30
    # 31 x 10 patches a panel; three histories of 0, 1 and 2 panels with 75 tokens of text each.
    assert alone.usage.prompt == 10 * 3 * (312 + 60 + 310)
    assert full.usage.prompt - alone.usage.prompt == 10 * 3 * (310 + 75)
    assert full.usage.completion == 30 * 361
    assert full.cost == pytest.approx((full.usage.prompt * 5 + full.usage.completion * 30) / 1e6)
    assert estimate(10, CONDITIONS["no_auxiliary"], 3, None).cost is None
    assert f"{full.cost:,.2f}" in full.line()


def test_the_estimate_is_of_the_papers_order():
    # 100 tasks of GPT-5.6-Sol: 28.9 million input tokens, 0.85 million output tokens (Table 20).
    low, high = (estimate(100, CONDITIONS["full"], turns, None) for turns in (TYPICAL_TURNS, TURNS))
    assert low.usage.prompt < 28_883_151 < high.usage.prompt
    assert low.usage.completion == pytest.approx(853_753, rel=0.02)
