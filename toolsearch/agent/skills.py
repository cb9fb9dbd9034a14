"""Skills: folders with a SKILL.md, whose tools appear once the model has activated the skill."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

from toolsearch.agent.providers import Given, ProviderRequest
from toolsearch.agent.results import ToolReturn
from toolsearch.catalog.loaded import read_text
from toolsearch.conversation import Message, ToolResult
from toolsearch.errors import InvalidSource, ToolErrorForModel
from toolsearch.tool import Json, SearchBehavior, Tool, ToolSpec

ACTIVATED: Final = "activated_skill"
"""Attribute of a result that names the skill it activated."""
MAX_FILE: Final = 1_000_000
"""Bytes of one SKILL.md."""
MAX_SKILLS: Final = 1_000
_NAME: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_FRONT: Final = re.compile(r"\A---\s*\n(.*?)\n---\s*(?:\n|\Z)(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Skill:
    """One skill: what it is for, and the instructions that activating it gives."""

    name: str
    description: str
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillToolset:
    """The skills of a folder, each in a folder of its own; `tools` are those that a skill brings, by its name.

    The model sees `activate_skill` from the start. What it activated is derived from the conversation, so it ends
    with the message that activated it.

    Raises:
        InvalidSource: a SKILL.md is not one.
    """

    skills: Mapping[str, Skill]
    tools: Mapping[str, Sequence[Given]] = field(default_factory=dict[str, Sequence[Given]])

    @classmethod
    def of(cls, folder: str | Path, tools: Mapping[str, Sequence[Given]] | None = None) -> SkillToolset:
        """The skills in a folder.

        Raises:
            InvalidSource: there is none, or a SKILL.md is not one.
        """
        found = [read_skill(path) for path in sorted(Path(folder).glob("*/SKILL.md"))[:MAX_SKILLS]]
        if not found:
            raise InvalidSource(f"no SKILL.md in the folders of {str(folder)[:200]!r}")
        skills = {skill.name: skill for skill in found}
        unknown = [name for name in tools or {} if name not in skills]
        if unknown:
            raise InvalidSource(
                f"tools are given for {unknown[0]!r:.80}, which is no skill; there are {', '.join(skills)}"
            )
        return cls(skills=skills, tools=tools or {})

    def parts(self) -> list[Any]:
        """What an agent takes: the tool that activates, and the provider of activated skills' tools."""
        return [self.activate(), ActivatedSkills(self)]

    def activate(self) -> Tool:
        """The tool that activates a skill; its description lists them."""
        listed = "\n".join(f"- {one.name}: {one.description}" for one in self.skills.values())
        parameters: Json = {
            "type": "object",
            "properties": {"name": {"type": "string", "enum": list(self.skills)}},
            "required": ["name"],
        }
        spec = ToolSpec(
            name="activate_skill",
            description=f"Gives the instructions and the tools of a skill. Skills:\n{listed}",
            parameters=parameters,
            search=SearchBehavior.ALWAYS_VISIBLE,
        )
        return Tool(spec, self._activated)

    def _activated(self, arguments: Json, context: Any = None) -> ToolReturn:
        skill = self.skills.get(str(arguments.get("name")))
        if skill is None:
            raise ToolErrorForModel(f"There is no such skill; there are {', '.join(self.skills)}."[:2_000])
        return ToolReturn(skill.body, {ACTIVATED: skill.name})


@dataclass(frozen=True, slots=True)
class ActivatedSkills:
    """Provides the tools of the skills that the conversation activated."""

    toolset: SkillToolset
    dynamic: bool = True

    async def provide(self, request: ProviderRequest) -> Iterable[Given]:
        """The tools, in the order of activation."""
        names = dict.fromkeys(name for one in request.messages for name in activated_in(one))
        return [one for name in names for one in self.toolset.tools.get(name, ())]


def activated_in(message: Message) -> list[str]:
    """The skill that a result activated."""
    name = message.attributes.get(ACTIVATED) if isinstance(message, ToolResult) else None
    return [name] if isinstance(name, str) else []


def read_skill(path: Path) -> Skill:
    """The skill of a SKILL.md.

    Raises:
        InvalidSource: it has no front matter, or its name or description breaks a rule.
        LimitExceeded: it is larger than MAX_FILE.
    """
    import yaml

    found = _FRONT.match(read_text(path, MAX_FILE))
    try:
        front: object = yaml.safe_load(found[1]) if found else None
    except yaml.YAMLError as error:
        raise InvalidSource(f"{path.parent.name}/SKILL.md: its front matter is no YAML ({str(error)[:100]})") from None
    if not isinstance(front, dict) or found is None:
        raise InvalidSource(f"{path.parent.name}/SKILL.md does not begin with a front matter between --- lines")
    known = cast("Mapping[str, Any]", front)
    name, description = known.get("name"), known.get("description")
    if not isinstance(name, str) or not _NAME.fullmatch(name) or len(name) > 64 or name != path.parent.name:
        raise InvalidSource(f"the skill in {path.parent.name!r:.80} must have the name of its folder, not {name!r:.80}")
    if not isinstance(description, str) or not 0 < len(description) <= 1024:
        raise InvalidSource(f"the skill {name!r} needs a description of at most 1024 characters")
    return Skill(name, " ".join(description.split()), found[2].strip())
