"""HTML that cannot be anything but what is meant: whatever is not markup already is escaped."""

from __future__ import annotations

from html import escape

from ..testing.implementation import printable


class Markup(str):
    """Text that is HTML already, and safe."""

    __slots__ = ()


def text(value: str) -> Markup:
    """Return text as HTML, without what could act on a terminal or turn the reading direction.

    Its lines stay lines: white space is kept where the style says so.
    """
    lines = str(value).split("\n")
    return Markup(escape("\n".join(_line(line) for line in lines)))


def element(tag: str, *children: str, **attributes: str | bool) -> Markup:
    """Return an element; what of its children is no markup is text.

    `class_` and `for_` are the attributes of these names, `aria_label` is aria-label. An attribute
    that is True has no value, one that is False is left out.
    """
    written = "".join(_attribute(name, value) for name, value in attributes.items())
    inside = together(*children)
    if tag in ("br", "input", "meta"):
        return Markup(f"<{tag}{written} />")
    return Markup(f"<{tag}{written}>{inside}</{tag}>")


def document(title: str, *inside: str, policy: str, style: str, class_: str) -> str:
    """Return a page that needs nothing but itself: a file with one style, and what is inside."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", f"{title} · rope_kv"),
        element("style", Markup(style)),
    )
    body = element("body", *inside, class_=class_)
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def together(*children: str) -> Markup:
    """Return some children, one after the other."""
    return Markup("".join(one if isinstance(one, Markup) else text(one) for one in children))


def _attribute(name: str, value: str | bool) -> str:
    name = name.rstrip("_").replace("_", "-")
    if isinstance(value, bool):
        return f' {name}="{name}"' if value else ""
    return f' {name}="{text(value)}"'


def _line(line: str) -> str:
    # Leading spaces align numbers and code.
    indent = len(line) - len(line.lstrip(" "))
    return " " * indent + printable(line)
