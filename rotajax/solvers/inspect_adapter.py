"""`rota`: a suite as a task of Inspect (inspect_ai): its models and its logs, our pictures, rules and scores.

    inspect eval rotajax/rota -T suite=mini -T limit=3 --model PROVIDER/MODEL

A sample is an episode. Each decision is one question with the prompt of `api_solver`; its answer is read as there and
asked for again where it is not legal. The score is the exact simulator's. Nothing but the prompt reaches a model.
"""

import asyncio
from typing import Any

from rotajax.checks import require_member
from rotajax.env.actions import ACTIONS
from rotajax.env.state import OUTCOMES, RUNNING, SUCCESS, Params
from rotajax.solvers.api import RETRIES
from rotajax.solvers.parse import Answer, read_answer
from rotajax.solvers.picture import make_panel
from rotajax.solvers.prompt import messages as prompt_messages
from rotajax.solvers.question import CONDITIONS, Condition, Question, Turn
from rotajax.solvers.settings import Settings
from rotajax.solvers.simulate import Scene, Simulator
from rotajax.tasks.suite import Suite, load_suite

try:
    # An extra that the type checker need not have.
    import inspect_ai  # pyright: ignore[reportMissingImports]
    from inspect_ai import dataset, model, scorer, solver  # pyright: ignore[reportMissingImports]
except ModuleNotFoundError:
    raise ValueError("inspect: expected inspect_ai, got no such package: pip install 'rotajax[inspect]'") from None

# Turns that are drawn together at most; Inspect decides how many samples are in flight.
_TOGETHER = 16
_STORE = "rota"
# Inspect's reasons of an answer's end, in the protocol's words.
_REASONS = {"max_tokens": "length", "model_length": "length", "content_filter": "content_filter"}
_KEYS = ("success", "final_iou", "steps", "final_pose_error_deg", "malformed")


@inspect_ai.task
def rota(
    suite: str = "mini", limit: int | None = None, condition: str = "full", retries: int = RETRIES
) -> inspect_ai.Task:
    """Return the task. suite: an embedded suite's name or a folder; limit: its first tasks only; condition: of Table 2;
    retries: answers asked for after the first, for a legal one.

    The settings of Table 19 are the task's; Inspect's own options overrule them. Raises ValueError as `load_suite` and
    for an unknown condition.
    """
    require_member(condition, CONDITIONS, "inspect: condition")
    loaded = load_suite(suite, limit=limit)
    settings = Settings()
    config: dict[str, Any] = {"temperature": settings.temperature, "seed": settings.seed}
    config |= {"max_tokens": settings.max_tokens, "reasoning_effort": settings.effort}
    samples = [
        dataset.Sample(input=f"Align the object of {name} with its target.", id=name, metadata={"row": row})
        for row, name in enumerate(loaded.ids)
    ]
    return inspect_ai.Task(
        dataset=dataset.MemoryDataset(samples, name=loaded.info.id),
        solver=play(loaded, CONDITIONS[condition], retries),
        scorer=outcome(),
        config=model.GenerateConfig(**config),
        version=loaded.info.version,
        metadata={"suite": loaded.info.id, "suite_sha256": loaded.info.sha256, "condition": condition},
    )


@solver.solver
def play(suite: Suite, condition: Condition, retries: int) -> solver.Solver:
    """Return the solver that plays a sample's episode with the model that is evaluated."""
    # Made with the first sample, in the loop that it is used in. Inspect says when a sample ends, not when the last one
    # does: the simulator and its thread go with the task.
    made: list[Simulator] = []
    params = Params()

    async def solve(state: solver.TaskState, generate: solver.Generate) -> solver.TaskState:
        if not made:
            rows, most = range(len(suite.ids)), min(_TOGETHER, len(suite.ids))
            made.append(Simulator(suite, params, rows=rows, most=most, auxiliary=condition.auxiliary))
        simulator, row = made[0], state.metadata["row"]
        scene = await simulator.look(row, simulator.resumed(row))
        past: list[Turn] = []
        decisions: list[dict[str, Any]] = []
        failure, malformed = None, 0
        while scene.state.outcome == RUNNING:
            question = await asyncio.to_thread(_question, simulator, row, scene, tuple(past), condition, state.epoch)
            answer, codes = await _ask(state, question, retries)
            malformed += len(codes)
            if answer is None:
                failure = codes[-1]
                break
            name, angle = ACTIONS[answer.action]
            scene = await simulator.move(row, scene.state, answer.action)
            decisions.append({"action": name, "angle": angle, "cot": answer.text, "iou_after": float(scene.state.iou)})
            if condition.history:
                past.append(Turn(question.panel, name, angle, answer.text))
        told = {"outcome": "error" if failure else OUTCOMES[int(scene.state.outcome)], "failure": failure}
        told |= {"success": int(scene.state.outcome == SUCCESS), "steps": int(scene.state.steps)}
        told |= {"final_iou": float(scene.state.iou), "final_pose_error_deg": float(scene.pose_error)}
        state.store.set(_STORE, told | {"malformed": malformed, "decisions": decisions})
        state.completed = True
        return state

    return solve


@scorer.scorer(metrics={key: [scorer.mean(), scorer.stderr()] for key in _KEYS})
def outcome() -> scorer.Scorer:
    """Return the scorer: what the simulator says of the episode that was played."""

    async def score(state: solver.TaskState, target: scorer.Target) -> scorer.Score:
        told = state.store.get(_STORE)
        how = told["outcome"] + (f" ({told['failure']})" if told["failure"] else "")
        return scorer.Score(
            value={key: told[key] for key in _KEYS},
            answer=told["outcome"],
            explanation=f"{how} after {told['steps']} rotations, IoU {told['final_iou']:.3f}",
            metadata={"decisions": told["decisions"]},
        )

    return score


def _question(
    simulator: Simulator, row: int, scene: Scene, past: tuple[Turn, ...], condition: Condition, epoch: int
) -> Question:
    target = simulator.targets[row]
    view, current = scene.pictures(condition.auxiliary)
    return Question(
        episode=f"{row}/{epoch}",
        turn=int(scene.state.decisions),
        seed=epoch,
        target=target,
        view=view,
        current=current,
        panel=make_panel(target, view, current),
        history=past,
        condition=condition,
        max_decisions=int(simulator.params.max_decisions),
    )


async def _ask(state: solver.TaskState, question: Question, retries: int) -> tuple[Answer | None, list[str]]:
    """Return the model's legal answer, or None, and the codes of the answers that were none."""
    sent = [_message(each) for each in prompt_messages(question)]
    codes: list[str] = []
    while len(codes) <= retries:
        output = await model.get_model().generate(sent)
        state.messages, state.output = [*sent, output.message], output
        read = read_answer(output.completion, finish_reason=_REASONS.get(output.stop_reason))
        if isinstance(read, Answer):
            return read, codes
        codes.append(read.code)
    return None, codes


def _message(given: dict[str, Any]) -> Any:
    """Return a message of the protocol as one of Inspect's."""
    if given["role"] == "system":
        return model.ChatMessageSystem(content=given["content"])
    parts = [
        model.ContentText(text=part["text"])
        if part["type"] == "text"
        else model.ContentImage(image=part["image_url"]["url"])
        for part in given["content"]
    ]
    return model.ChatMessageUser(content=parts)
