"""Texts of a tool that speak to the model instead of describing the tool, or that a reader cannot see.

Patterns are matched on a plain form of the text (compatible characters, lower case, nothing invisible); all of
them run in linear time. They find what is written plainly, not every attack: a clean report is no proof.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final, cast

from toolsearch.catalog.findings import Rule, Said, Severity, quoted
from toolsearch.tool import ToolSpec

MAX_READ: Final = 200_000
"""Most characters of one tool that are read."""

ATTACK_RULES: Final = {
    "hidden-characters": Rule(Severity.ERROR, "characters that cannot be seen or that turn the text around"),
    "hidden-markup": Rule(Severity.ERROR, "markup that hides text or runs a script"),
    "remote-image": Rule(Severity.WARNING, "a picture from elsewhere, which a client that shows it will fetch"),
    "model-instructions": Rule(Severity.ERROR, "instructions to the model that have nothing to do with the tool"),
    "model-pressure": Rule(Severity.WARNING, "a text that tells the model to prefer the tool"),
}

_INVISIBLE: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e007f]"
)
_SELECTORS: Final = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2}")
"""Two variation selectors in a row carry data, not the look of a character."""
_FLAG: Final = re.compile("\U0001f3f4[\U000e0061-\U000e007a]{1,8}\U000e007f")
"""The flags of England, Scotland and Wales, which are written with tag characters."""
_RIGHT_TO_LEFT: Final = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_LATIN: Final = re.compile("[A-Za-z]")
_JOINERS: Final = frozenset("\u200c\u200d")
_MARKS: Final = frozenset("\u200e\u200f\u061c")
_BREAKS: Final = frozenset("\u200b\u00ad\ufeff")

_MARKUP: Final = re.compile(
    r"<!--|<(?:script|iframe)[ >]|javascript:|data:text/html"
    r"|style\s{0,3}=\s{0,3}[\"'][^\"'>]{0,200}?(?:display\s{0,3}:\s{0,3}none|visibility\s{0,3}:\s{0,3}hidden"
    r"|font-size\s{0,3}:\s{0,3}0|opacity\s{0,3}:\s{0,3}0(?!\.))"
    r"|^\[//\]:\s{0,3}#|\n{20}|[ \t]{120}",
    re.MULTILINE,
)
_IMAGE: Final = re.compile(r"!\[[^\]\n]{0,200}\]\(\s{0,3}https?:[^)\s]{0,60}|<img[^>]{1,200}src")
_ALL: Final = r"(?:all|any|the|your|my|these|those|every|other|of|previous|prior|above|earlier|preceding|system|safety)"
_ORDERS: Final = r"(?:instructions?|prompts?|rules|guidelines|directives|system messages?|safeguards)"
_INSTRUCTIONS: Final = re.compile(
    rf"\b(?:ignore|disregard|forget|override|bypass)(?: {_ALL}){{1,6}} {_ORDERS}\b"
    r"|\b(?:do not|don't|never|without) (?:tell|telling|inform|informing|mention|mentioning|notify|notifying|alert"
    r"|alerting|reveal|revealing)(?: [a-z]{1,12}){0,4} (?:to )?(?:the )?users?\b"
    r"|\b(?:hide|conceal|keep)(?: [a-z]{1,12}){0,4} from (?:the )?users?\b"
    r"|</?(?:important|system|instructions?|secret|hidden|assistant|admin)>"
    r"|\[/?inst\]|<\|(?:im_start|im_end|system|user|assistant|endoftext)\|>"
    r"|\b(?:new|updated|hidden|secret) (?:system )?(?:instructions?|prompt) ?:|\bsystem prompt ?:"
    r"|\byou are now (?:a|an|in|no longer|the|dan)\b"
    r"|\b(?:read|open|cat|load|send|include|pass|attach|upload|append|provide)(?: [^ ]{1,20}){0,6} "
    r"[`'\"]?(?:~/\.|\$home/\.|/home/[^ ]{1,30}/\.|/etc/(?:passwd|shadow))"
    r"|\b(?:id_rsa|id_ed25519|\.ssh/|\.aws/credentials|\.cursor/mcp\.json)"
    r"|\b(?:send|include|pass|attach|forward|append|leak|copy)(?: [a-z']{1,12}){0,5} (?:system prompt|conversation "
    r"history|chat history|previous messages|entire conversation)\b"
    r"|(?:忽略|无视|忽視|無視)(?:[^。\n]{0,12})(?:指令|指示|提示|说明|說明|規則|规则)|指示を(?:すべて)?無視"
    r"|(?:игнорируй|игнорируйте|забудь|забудьте)(?: [а-я]{1,14}){0,3} (?:инструкц|указани|правил)"
    r"|(?:ignoriere|vergiss|missachte)(?: [a-zäöüß]{1,14}){0,3} (?:anweisungen|anweisung|regeln)"
    r"|(?:ignora|olvida|ignore|ignorez|oublie|oubliez)(?: [a-zéèáíóú]{1,14}){0,3} (?:instrucciones|instructions "
    r"(?:précédentes|antérieures)|instruções|istruzioni)"
)
_TOOL: Final = r"(?:tool|function|api|endpoint|server|plugin|skill|command|action)"
_PRESSURE: Final = re.compile(
    rf"\b(?:always|must|should always|only ever) (?:call|use|invoke|run|prefer|choose|pick|select) (?:this|our)\b"
    rf"|\b(?:call|use|invoke|run) this (?:{_TOOL} )?(?:first|before (?:any|every|all)|for (?:every|all|any)"
    rf"|no matter|regardless)\b"
    rf"|\bbefore (?:using|calling|invoking|running) (?:any|every|all)(?: of)?(?: the)?(?: other)? {_TOOL}s?\b"
    rf"|\b(?:never|do not|don't) (?:use|call|invoke)(?: any)?(?: of)?(?: the)? other {_TOOL}s?\b"
    rf"|\balways (?:the )?best {_TOOL}\b|\bprefer this(?: {_TOOL})?\b|\bthis {_TOOL} (?:must|should always) be "
    r"(?:called|used|invoked|run|preferred|chosen)\b"
    r"|\bmust be (?:called|used|invoked|run) (?:first|before|prior)\b"
    r"|\b(?:takes|has) (?:precedence|priority) over (?:all|any|every|other)\b"
)


def attacks(spec: ToolSpec) -> Said:
    """What in a tool's texts attacks the model or its reader; each rule at most once."""
    said: set[str] = set()
    for where, text in _texts(spec):
        for rule, message in _found(where, text):
            if rule not in said:
                said.add(rule)
                yield rule, message


def _found(where: str, text: str) -> Said:
    if unseen := _unseen(text):
        yield "hidden-characters", f"The {where} holds {unseen}; take out what a reader cannot see."
    if match := _MARKUP.search(text.lower()):
        shown = text[match.start() : match.end() + 40].strip() or "a long run of blanks"
        yield "hidden-markup", f"The {where} holds markup that can hide text ({quoted(shown)}); write plain text."
    if match := _IMAGE.search(text):
        yield "remote-image", f"The {where} loads a picture from elsewhere ({quoted(match[0])}); say it in words."
    plain = _plain(text)
    if match := _INSTRUCTIONS.search(plain):
        yield (
            "model-instructions",
            f"The {where} gives the model orders ({quoted(_around(plain, match))}); do not offer the tool before "
            "somebody has read it, and describe only what it does.",
        )
    if match := _PRESSURE.search(plain):
        yield (
            "model-pressure",
            f"The {where} presses the model to use the tool ({quoted(_around(plain, match))}); say when it helps "
            "instead.",
        )


def _around(text: str, match: re.Match[str]) -> str:
    return text[max(0, match.start() - 10) : match.end() + 20].strip()


def _plain(text: str) -> str:
    seen = text if text.isascii() else _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))
    return " ".join(seen.replace("’", "'").lower().split())


def _unseen(text: str) -> str:
    """The first character that cannot be seen and has no business there, by code point and place; "" for none."""
    if text.isascii() and text.isprintable():
        return ""
    seen = _FLAG.sub("", text)
    if selectors := _SELECTORS.search(seen):
        return f"data in variation selectors at character {selectors.start() + 1}"
    for match in _INVISIBLE.finditer(seen):
        if not _belongs(seen, match.start()):
            name = unicodedata.name(match[0], "a control character").lower()
            return f"U+{ord(match[0]):04X} ({name}) at character {match.start() + 1}"
    return ""


def _belongs(text: str, place: int) -> bool:
    """Whether a joiner, a mark of direction or a place to break stands where its script needs it."""
    char = text[place]
    before, after = text[place - 1 : place], text[place + 1 : place + 2]
    if char in _JOINERS:
        return bool(before and after) and not (_LATIN.match(before) or _LATIN.match(after))
    if char in _MARKS:
        return bool(_RIGHT_TO_LEFT.search(text[max(0, place - 200) : place + 200]))
    if char in _BREAKS:
        return bool(before) and not before.isascii() and bool(after) and not after.isascii()
    return False


def _texts(spec: ToolSpec) -> Iterator[tuple[str, str]]:
    """Every text of a tool that a model may be shown, with where it stands; at most MAX_READ characters."""
    left = MAX_READ
    for where, text in _all_texts(spec):
        if left <= 0:
            return
        yield where, text[:left]
        left -= len(text)


def _all_texts(spec: ToolSpec) -> Iterator[tuple[str, str]]:
    yield "name", spec.name
    yield "title", spec.title or ""
    yield "description", spec.description
    for where, texts in (("tags", spec.tags), ("aliases", spec.aliases), ("examples", spec.examples)):
        for text in texts:
            yield where, text
    for where, value in (
        ("input schema", spec.parameters),
        ("output schema", spec.output_schema),
        ("annotations", spec.annotations),
    ):
        for text in _inner(value):
            yield where, text


def _inner(value: object) -> Iterator[str]:
    waiting: list[object] = [value]
    while waiting:
        here = waiting.pop()
        if isinstance(here, str):
            yield here
        elif isinstance(here, dict):
            body = cast("dict[str, object]", here)
            yield from body
            waiting += reversed(list(body.values()))
        elif isinstance(here, list):
            waiting += reversed(cast("list[object]", here))
