"""Models by name: "openai:gpt-5.4", "anthropic:claude-opus-5", "openai-chat:http://127.0.0.1:8000/v1#qwen"."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final
from urllib.parse import urlsplit

from toolsearch.chat import ChatOptions
from toolsearch.errors import InvalidInput
from toolsearch.llm.model import Model

ADAPTERS: Final = {
    "anthropic": "toolsearch.llm.anthropic:Anthropic",
    "ollama": "toolsearch.llm.ollama:Ollama",
    "openai": "toolsearch.llm.openai_responses:OpenAIResponses",
    "openai-chat": "toolsearch.llm.openai_chat:OpenAIChat",
}
"""Provider -> adapter. "openai" is the Responses API; "openai-chat" is Chat Completions, which many servers speak."""


def open_model(name: str, *, options: ChatOptions | None = None, timeout: float = 60.0, retries: int = 2) -> Model:
    """The model of a name: PROVIDER:MODEL, or PROVIDER:URL#MODEL for a server of your own.

    Keys come from the environment, as the providers' SDKs have it.

    Raises:
        InvalidInput: the name is not of that form, or the provider is unknown.
        MissingExtra: the provider's SDK is not installed.
    """
    provider, _, rest = name.partition(":")
    if provider not in ADAPTERS or not rest:
        raise InvalidInput(f"no model {name[:100]!r}; write PROVIDER:MODEL with one of {', '.join(ADAPTERS)}")
    url, model = "", rest
    if rest.startswith(("http://", "https://")):
        url, _, model = rest.rpartition("#")
        if not url or not model:
            raise InvalidInput(f"the model of {name[:100]!r} is missing; write PROVIDER:URL#MODEL")
        if not _names_a_host(url):
            raise InvalidInput(f"{url[:100]!r} is no address of a server; write PROVIDER:http://HOST:PORT/PATH#MODEL")
    module, _, adapter = ADAPTERS[provider].partition(":")
    opened: Any = getattr(import_module(module), adapter).open(model, url)
    return Model(adapter=opened, options=options or ChatOptions(), timeout=timeout, retries=retries)


def _names_a_host(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
