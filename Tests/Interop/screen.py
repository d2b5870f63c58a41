"""The screen of an app on a virtual iPhone: what a person reads, taps and types, by the tree of its views."""

from __future__ import annotations

import json
import typing

from phone import Phone

Node = dict[str, typing.Any]


class Screen:
    """What stands on a phone's screen now, and a finger on it."""

    def __init__(self, phone: Phone):
        self.phone = phone

    # What is read

    def nodes(self) -> list[Node]:
        """Every view, back to front."""

        def walk(node: Node) -> typing.Iterator[Node]:
            yield node
            for child in node.get("children", []):
                yield from walk(child)

        return [node for view in self.phone.do("views")["views"] for node in walk(view)]

    def texts(self) -> list[str]:
        """What is written, back to front."""
        return [node["text"] for node in self.nodes() if node.get("text")]

    def rows(self) -> list[list[str]]:
        """What is written in each visible row of the table in front."""
        return [texts_in(node) for node in self.nodes() if node["role"] == "row"]

    def find(self, name: str) -> Node | None:
        """The view in front that is called so: by its words, what VoiceOver says, or its identifier."""
        found = [node for node in self.nodes() if name in (node.get("label"), node.get("text"), node.get("identifier"))]
        return found[-1] if found else None

    # Waiting

    def wait_until(self, holds: typing.Callable[[], typing.Any], what: str) -> typing.Any:
        try:
            return self.phone.wait_until(holds, what)
        except AssertionError:
            print(json.dumps(self.phone.do("views")["views"], ensure_ascii=False))
            raise

    def wait_for(self, *texts: str):
        """Until all of these are written on the screen."""
        self.wait_until(lambda: not set(texts) - set(self.texts()), f"{texts} on the screen")

    def wait_while(self, text: str):
        self.wait_until(lambda: text not in self.texts(), f"the end of {text} on the screen")

    def row_with(self, *texts: str) -> str:
        """Waits for a row in which all of these are written; returns its identifier."""

        def look() -> Node | None:
            rows = [node for node in self.nodes() if node["role"] == "row" and not set(texts) - set(texts_in(node))]
            return rows[-1] if rows else None

        row = self.wait_until(look, f"a row with {texts}")
        return row.get("identifier") or row.get("label") or texts[0]

    # Doing

    def touch(self, name: str, action: str = "tap", **members):
        """Does something with a view, as soon as it is there."""
        self.wait_until(lambda: self.find(name), f"{name} on the screen")
        self.phone.do("touch", view=name, action=action, **members)

    def enter(self, name: str, text: str):
        self.touch(name, "enter", text=text)

    def scroll_to(self, name: str):
        """Scrolls down until it is on the screen."""
        for _ in range(20):
            if self.find(name):
                return
            self.phone.do("touch", action="scroll", direction="down")
        raise AssertionError(f"{name} is nowhere on the screen: {self.texts()}")

    def menu(self, name: str, item: str):
        """A long press, and what is chosen of the menu."""
        self.touch(name, "long_press")
        self.touch(item)


def texts_in(node: Node) -> list[str]:
    own = [node["text"]] if node.get("text") else []
    return own + [text for child in node.get("children", []) for text in texts_in(child)]


def roles_in(node: Node) -> set[str]:
    return {node["role"], *(role for child in node.get("children", []) for role in roles_in(child))}
