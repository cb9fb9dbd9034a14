"""Preselection: what to show a model from the start, so that most conversations need no search."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fastapi import APIRouter, Request, Response

from toolsearch.agent.context import InvocationContext
from toolsearch.agent.preselection import PreselectingToolProvider
from toolsearch.agent.providers import ProviderRequest
from toolsearch.conversation import PRESELECTED, AssistantMessage, Message, ToolCall, UserMessage
from toolsearch.errors import InvalidInput
from toolsearch.questions import Decision, DecisionModel, Question, State, YesNoAnswer
from toolsearch.server import preselect_bodies as bodies
from toolsearch.server import writing
from toolsearch.server.problems import Problem
from toolsearch.server.routes.searching import confident
from toolsearch.server.service import Anyone, Here
from toolsearch.strategies.confidence import band

if TYPE_CHECKING:
    from toolsearch.protocols import Retriever, SearchResult, ToolView
    from toolsearch.server.callers import Caller
    from toolsearch.server.indexes import Seen
    from toolsearch.tool import Executor

router = APIRouter(prefix="/v1", tags=["search"])


@router.post("/preselect", response_model=bodies.Preselected)
async def preselect(asked: bodies.Preselect, here: Here, caller: Anyone, request: Request) -> Response:
    """Choose tools for a request: those given in any case, then the best within k and the budget."""
    served = here.indexes.named(asked.index)
    if asked.judge and here.judge is None:
        raise Problem(501, "no judge is set up; name one in the settings: judge = ...")
    judge = Heard(here.judge, asked.min_probability) if asked.judge and here.judge else None
    seen = await here.run(lambda: served.see(caller, asked.filter))
    search = Search(await here.run(lambda: served.index.retriever(asked.strategy or served.strategy)), asked)
    notes: list[str] = []
    provider = PreselectingToolProvider(
        tools=Catalog(seen.view),
        chooser=judge or search,
        max_results=asked.k,
        min_probability=asked.min_probability,
        always_include=asked.always,
        max_messages=asked.max_messages if asked.messages else len(asked.asked),
        on_failure=asked.on_failure,
        shortlist=asked.shortlist,
        retriever=search,
        thread=here.run,
        failed=lambda error: notes.append(
            f"not checked by the judge ({type(error).__name__}); {asked.on_failure} given"
        ),
    )
    found = _conversation(asked, caller, request.state.request_id)
    given = await provider.provide(found) or ()
    told = search.band if judge is None or (notes and asked.on_failure == "all") else band(judge.best)

    def work() -> bodies.Preselected:
        body = _answered([tool.spec.id for tool in given], found, seen, caller, asked.max_tokens)
        about = () if judge and judge.best is not None else search.notes
        more = {"band": told if body.tools else "none", "notes": [*about, *notes]}
        return body.model_copy(update=more)

    return await here.answer(work)


def _conversation(asked: bodies.Preselect, caller: Caller, run_id: str) -> ProviderRequest:
    """What was said, called and selected, as preselection reads it."""
    said = asked.messages or [bodies.Message(role="user", text=need) for need in asked.asked]
    if not said[-1].text.strip():
        raise InvalidInput("the request is empty; say in a few words what the tool should do")
    history: list[Message] = [
        UserMessage(one.text) if one.role == "user" else AssistantMessage(one.text) for one in said[:-1]
    ]
    calls = tuple(ToolCall(f"{place}", name) for place, name in enumerate(asked.called))
    before = UserMessage("", attributes={PRESELECTED: asked.selected})
    question = UserMessage(said[-1].text)
    context = InvocationContext(
        run_id=run_id, agent="preselect", memory_id=None, message=question, augmented=question, caller=caller.groups
    )
    return ProviderRequest(context=context, messages=[before, AssistantMessage("", calls), *history, question])


def _answered(
    ids: Sequence[str], found: ProviderRequest, seen: Seen, caller: Caller, budget: int | None
) -> bodies.Preselected:
    tools = [writing.tool_body(spec, caller) for one in ids if (spec := seen.view.get(one))]
    kept = writing.within(tools, budget)
    shown = {tool.id for tool in kept}
    before = [one for message in found.messages if isinstance(message, UserMessage) for one in _ids(message)]
    return bodies.Preselected.model_construct(
        tools=kept,
        selected=[one for one in dict.fromkeys(before) if one in shown],
        band="none",
        more=len(tools) - len(kept),
        version=seen.version,
        notes=[],
    )


def _ids(message: UserMessage) -> list[str]:
    return list(message.attributes.get(PRESELECTED, ()))


@dataclass(frozen=True, slots=True)
class Catalog:
    """What a caller can find, as preselection takes it."""

    seen: ToolView

    def view(self, *, caller: Iterable[str] | None = None) -> ToolView:
        """The view; its caller is known."""
        del caller
        return self.seen

    def executor(self, tool_id: str) -> Executor | None:
        """None: nothing is run here."""
        del tool_id


class Search:
    """A retriever that is asked for the needs of a request and keeps its band of confidence and its notes."""

    def __init__(self, retriever: Retriever, asked: bodies.Preselect) -> None:
        self._retriever, self._asked = retriever, asked
        self.band = "none"
        self.notes: tuple[str, ...] = ()

    def search(self, needs: Sequence[str], view: ToolView, k: int) -> SearchResult:
        """At most k tools; none when the confidence is lower than wanted."""
        wanted = needs if self._asked.messages else self._asked.asked
        found = confident(self._retriever.search(wanted, view, k), self._asked.min_confidence)
        self.band, self.notes = found.band if found.hits else "none", found.notes
        return found


class Heard:
    """A judge of which the highest probability that selects a tool is kept, None when none does."""

    def __init__(self, model: DecisionModel, least: float) -> None:
        self.model, self._least = model, least
        self.best: float | None = None

    async def decide(self, state: State, questions: Mapping[str, Question]) -> Decision:
        """See `DecisionModel.decide`."""
        decision = await self.model.decide(state, questions)
        found = [one.probability for one in decision.answers.values() if isinstance(one, YesNoAnswer)]
        self.best = max((one for one in [*found, self.best or 0.0] if one >= self._least), default=None)
        return decision
