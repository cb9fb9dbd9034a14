"""Every error that toolsearch raises on purpose.

ToolSearchError
├── InvalidInput (ValueError)        something a person, a file, a server or a model gave is not acceptable
│   ├── InvalidTool                  a definition that cannot become a tool
│   │   └── DuplicateTool            two tools with one id, or two names that must differ
│   ├── InvalidSource                a file, document or listing that cannot be read as tools
│   ├── InvalidFilter                a filter outside the closed language
│   ├── ToolsUnsupported             a model, or this way of using it, cannot take what was asked of tools
│   ├── UnsupportedContent           a model cannot take a kind of content
│   └── LimitExceeded                larger, deeper or slower than a stated bound
├── IndexFault                       an index cannot be used as asked
│   ├── IndexNotFound
│   ├── IndexBusy                    another process is building it
│   ├── IndexDamaged                 a file is missing, cut or changed
│   ├── IndexMismatch                built by another encoder, analyser or format
│   └── IndexReadOnly
├── EncoderFailed                    texts could not be turned into vectors
├── DecisionFailed                   a decision model gave no answer that can be used
│   ├── InvalidDecision              its answers do not fit the questions
│   └── DecisionRefused              it refused a question
├── ModelFailed                      a chat model gave no answer, or refused the request
├── RunStopped                       a run of an agent was ended by a limit; carries what there is of its result
├── ToolExecutionError               a tool could not do its work
│   ├── ToolArgumentsError           the arguments do not fit the tool
│   ├── ToolTimeout                  it did not answer in its time
│   └── ToolErrorForModel            its text, and only its text, is meant for the model
└── MissingExtra (ImportError)       an optional package is not installed

Readers of an error differ: a developer reads InvalidInput, an operator IndexFault, a model
ToolErrorForModel. Texts name the value, the rule and the way out, and never hold a whole catalog.
"""

from __future__ import annotations


class ToolSearchError(Exception):
    """Root of all errors raised on purpose."""


class InvalidInput(ToolSearchError, ValueError):
    """A value from outside breaks a rule; the text names value, rule and way out."""


class InvalidTool(InvalidInput):
    """A definition that cannot become a tool."""


class DuplicateTool(InvalidTool):
    """Two tools claim one id or one exposed name."""


class InvalidSource(InvalidInput):
    """A file, document or listing that cannot be read as tools."""


class InvalidFilter(InvalidInput):
    """A filter outside the closed language."""


class LimitExceeded(InvalidInput):
    """Input larger, deeper or slower than a stated bound."""


class ToolsUnsupported(InvalidInput):
    """A model cannot take tools, or not in the way that was asked."""


class UnsupportedContent(InvalidInput):
    """A model cannot take a kind of content; the text names both."""


class IndexFault(ToolSearchError):
    """An index cannot be used as asked; the text states the command that mends it."""


class IndexNotFound(IndexFault):
    """There is no index at the path."""


class IndexBusy(IndexFault):
    """Another process is building or changing the index."""


class IndexDamaged(IndexFault):
    """A file of the index is missing, cut or changed."""


class IndexMismatch(IndexFault):
    """The index was built by another encoder, analyser or format version."""


class IndexReadOnly(IndexFault):
    """A change was asked of an index that may only be read."""


class EncoderFailed(ToolSearchError):
    """Texts could not be turned into vectors."""


class ModelFailed(ToolSearchError):
    """A chat model gave no answer. `retry` says that asking again may help; `wait` is what it asked for, seconds."""

    def __init__(self, text: str, *, status: int | None = None, retry: bool = False, wait: float | None = None) -> None:
        super().__init__(text)
        self.status, self.retry, self.wait = status, retry, wait


class RunStopped(ToolSearchError):
    """A limit ended a run; `partial` is its result so far, and the conversation stays usable."""

    def __init__(self, text: str, partial: object) -> None:
        super().__init__(text)
        self.partial = partial


class DecisionFailed(ToolSearchError):
    """A decision model gave no answer that can be used."""


class InvalidDecision(DecisionFailed):
    """Answers of a decision model that do not fit its questions; asking again would not help."""


class DecisionRefused(DecisionFailed):
    """The decision model refused a question whose answer is needed."""


class ToolExecutionError(ToolSearchError):
    """A tool could not do its work."""


class ToolArgumentsError(ToolExecutionError):
    """The arguments of a call do not fit the tool."""


class ToolTimeout(ToolExecutionError):
    """A tool did not answer in its time."""


class ToolErrorForModel(ToolExecutionError):
    """An error whose text, and only its text, is shown to the model."""


class MissingExtra(ToolSearchError, ImportError):
    """An optional package is missing; carries the line that installs it."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"{package!r} is not installed; it comes with: pip install 'toolsearch[{extra}]'")
        self.package = package
        self.extra = extra
