"""A suite as a task of Inspect, played by its mock model; answers are scripted, the game and the scores are real."""

import gc
import threading
import warnings

import pytest

from rotajax.env.actions import ACTIONS
from rotajax.env.rollout import rollout
from rotajax.env.state import OUTCOMES
from rotajax.policies.baseline import POLICIES
from rotajax.tasks.suite import load_suite
from suites import write_tiny_suite

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # other people's
    inspect_ai = pytest.importorskip("inspect_ai", reason="Inspect: pip install 'rotajax[inspect]'")
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

import jax
import numpy as np

from rotajax.env.state import Params
from rotajax.solvers.inspect_adapter import rota

pytestmark = [pytest.mark.filterwarnings("ignore:::inspect_ai"), pytest.mark.filterwarnings("ignore::ResourceWarning")]


def answer(name, angle, text="because"):
    return f'{{"cot":"{text}","type":"{name}","angle":{angle}}}'


def evaluate(suite, reply, folder, **options):
    """Evaluate a suite with a model that answers by a function of its messages; return the log and what it was sent."""
    sent = []

    def output(messages, tools, choice, config):
        sent.append((messages, config))
        said = reply(messages)
        made = said if isinstance(said, ModelOutput) else ModelOutput.from_content("mockllm/model", said)
        # Without it the mock model counts tokens, with a table that it would download.
        made.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return made

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (log,) = inspect_ai.eval(
            rota(str(suite), **options),
            model=get_model("mockllm/model", custom_outputs=output, memoize=False),
            log_dir=str(folder),
            max_samples=1,
            display="none",
        )
    assert log.status == "success", log.error
    return log, sent


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    return write_tiny_suite(tmp_path_factory.mktemp("suite") / "tiny")


def parts(message, kind):
    return [part for part in message.content if part.type == kind]


def test_a_replayed_greedy_policy_gets_the_simulators_scores(suite, tmp_path):
    loaded = load_suite(suite)
    episodes = jax.tree.map(np.asarray, rollout(POLICIES["pose_greedy"], loaded.tasks, jax.random.key(0), Params()))
    begun = []  # first panels, in the order of the samples: they are played one after the other

    def reply(messages):
        panels = [part.image for part in parts(messages[1], "image")]
        if panels[0] not in begun:
            begun.append(panels[0])
        return answer(*ACTIONS[episodes.action[len(begun) - 1, len(panels) - 1]])

    log, sent = evaluate(suite, reply, tmp_path)
    assert [sample.id for sample in log.samples] == list(loaded.ids)
    for row, sample in enumerate(log.samples):
        score, end = sample.scores["outcome"], episodes.decisions[row]
        assert score.answer == OUTCOMES[episodes.outcome[row]] == "success"
        assert (score.value["success"], score.value["steps"]) == (1, episodes.steps[row])
        assert score.value["final_iou"] == pytest.approx(float(episodes.iou[row, end]), abs=1e-6)
        assert score.value["final_pose_error_deg"] == pytest.approx(float(episodes.pose_error[row, end]), abs=1e-3)
    assert len(sent) == episodes.decisions.sum()
    means = {score.name: score.metrics["mean"].value for score in log.results.scores}
    assert means["success"] == 1
    assert means["steps"] == pytest.approx(episodes.steps.mean())


def test_the_prompt_is_the_papers_and_the_settings_those_of_table_19(suite, tmp_path):
    turns = iter([answer("YAW_POS", 10, "first"), answer("STOP", 0)])
    log, sent = evaluate(suite, lambda messages: next(turns), tmp_path, limit=1)
    (first, config), (second, _) = sent
    assert first[0].text.startswith("You are playing a deterministic turn-based 3D-to-2D alignment game.")
    assert (config.temperature, config.seed, config.max_tokens, config.reasoning_effort) == (0, 42, 8192, "medium")
    texts = [part.text for part in parts(second[1], "text")]
    assert texts[0].startswith("Current turn: 2/48. Used steps: 1. Remaining steps: 47.")
    assert texts[1] == "Historical state 1; action after this state: step=1 action=YAW_POS angle=10 cot=first"
    assert texts[2] == "Current state to act on now:"
    assert [len(parts(messages[1], "image")) for messages in (first, second)] == [1, 2]
    score = log.samples[0].scores["outcome"]
    assert (score.answer, score.value["success"], score.value["steps"]) == ("stop", 0, 1)
    for word in ("iou", "single_", "sha256"):
        assert all(word not in message.text.lower() for messages, _ in sent for message in messages)


def test_conditions_leave_pictures_and_history_out(suite, tmp_path):
    turns = iter([answer("YAW_POS", 10), answer("STOP", 0)])
    log, sent = evaluate(suite, lambda messages: next(turns), tmp_path, limit=1, condition="neither")
    assert [len(parts(messages[1], "image")) for messages, _ in sent] == [1, 1]
    assert "oblique" not in sent[0][0][0].text
    assert log.eval.metadata["condition"] == "neither"
    with pytest.raises(ValueError, match="inspect: condition: expected one of full"):
        rota(str(suite), condition="some")


def test_illegal_answers_are_asked_again_and_then_the_episode_fails(suite, tmp_path):
    turns = iter(["left", answer("YAW_POS", 45), answer("STOP", 0), *["no"] * 7])
    log, sent = evaluate(suite, lambda messages: next(turns), tmp_path, limit=2)
    first, second = (sample.scores["outcome"] for sample in log.samples)
    assert (first.answer, first.value["malformed"]) == ("stop", 2)
    assert (second.answer, second.value["malformed"], second.value["success"]) == ("error", 7, 0)
    assert second.explanation.startswith("error (no_object) after 0 rotations")
    assert sent[0][0][1].content == sent[1][0][1].content


def test_a_cut_answer_is_truncated(suite, tmp_path):
    cut = ModelOutput.from_content("mockllm/model", '{"cot":"a long', stop_reason="max_tokens")
    log, _ = evaluate(suite, lambda messages: cut.model_copy(), tmp_path, limit=1, retries=0)
    assert log.samples[0].scores["outcome"].explanation.startswith("error (truncated)")


def test_the_simulator_goes_with_the_task(suite, tmp_path):
    evaluate(suite, lambda messages: answer("STOP", 0), tmp_path, limit=1)
    gc.collect()
    threads = [thread.name for thread in threading.enumerate() if thread.name.startswith("simulator")]
    assert threads == []
