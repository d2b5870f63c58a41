"""Mutation operators for the cores: every mutant of a file is compiled in at once, behind a number that chooses one when the tests run.

`plan(path, text)` finds the places; `apply(text, mutants)` writes the text in which each of them asks `isMutant(number)`. So a core is
compiled once for all of its mutants, and a run of its tests with TIDINGS_MUTANT=number tries one. The operators:

  never      a condition of `if`, `guard`, `while` or `where` is never met
  always     … is always met
  literal    `true` is `false`, and the other way round
  number     an integer is one more
  statement  a statement that changes state or appends an effect is left out
"""
import dataclasses
import hashlib
import re

TOKEN = re.compile(
    r"(?P<space>\s+)|(?P<comment>//[^\n]*|/\*.*?\*/)"
    r'|(?P<string>#*"""(?:.|\n)*?"""#*|#+"[^\n]*?"#+)'
    r"|(?P<quote>\")|(?P<tick>`[^`]*`)|(?P<number>\b0[xob][0-9a-fA-F_]+\b|\b\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][+-]?\d+)?\b)"
    r"|(?P<word>[#@$]?[A-Za-z_][A-Za-z_0-9]*|\$\d+)|(?P<symbol>->|&&|\|\||==|!=|<=|>=|\.\.\.|\.\.<|\+=|-=|\?\?|[^\s\w])",
    re.DOTALL)
# A switch for them all; it stands in the mutated copy only, where a core may look at the environment.
SWITCH = """\
import Glibc

/// Which mutant is tried; 0 for none.
let chosenMutant = getenv("TIDINGS_MUTANT").flatMap { Int(String(cString: $0)) } ?? 0

@inline(__always) func isMutant(_ number: Int) -> Bool { chosenMutant == number }
"""
# Whole numbers that are one more only where the type is wide enough.
EDGES = {127, 255, 32_767, 65_535}


@dataclasses.dataclass(frozen=True)
class Token:
    kind: str
    text: str
    start: int
    end: int


@dataclasses.dataclass
class Mutant:
    """A place in a file and what is done there: `before` and `after` are put around it, `number` stands in both as {}."""

    path: str
    line: int
    operator: str
    start: int
    end: int
    before: str
    after: str
    snippet: str
    number: int = 0

    @property
    def rank(self):
        """Where it stands in a sample: by what it is, not by where, so that a new line above changes no choice."""
        return hashlib.sha256(f"{self.path}|{self.operator}|{self.snippet}".encode()).hexdigest()

    @property
    def name(self):
        """What a list calls it: the file's name, and what is done to what."""
        return self.path.rpartition("/")[2], f"{self.operator}: {self.snippet}"

    def __str__(self):
        return f"{self.path}:{self.line}: {self.operator}: {self.snippet}"


def string_end(text, start):
    """The end of a string literal that begins with a quote: interpolations may hold quotes of their own."""
    position, depth = start + 1, 0
    while position < len(text):
        letter = text[position]
        if letter == "\\" and depth == 0:
            if text[position + 1] == "(":
                depth = 1
            position += 2
            continue
        if depth:
            if letter == '"':
                position = string_end(text, position)
                continue
            depth += {"(": 1, ")": -1}.get(letter, 0)
        elif letter == '"' or letter == "\n":
            return position + 1
        position += 1
    return position


def tokens(text):
    found, position = [], 0
    while position < len(text):
        match = TOKEN.match(text, position)
        kind, end = match.lastgroup, match.end()
        if kind == "quote":
            kind, end = "string", string_end(text, position)
        if kind not in ("space", "comment"):
            found.append(Token(kind, text[position:end], position, end))
        position = end
    return found


OPEN, CLOSE = {"(": ")", "[": "]", "{": "}"}, {")", "]", "}"}
STATEMENT = re.compile(r"(effects(\.append\(| \+= )|self\.[\w.\[\]?!()]+(\(| = | \+= | -= ))")
NO_MUTATION_IN = {"init", "deinit"}


class File:
    def __init__(self, path, text):
        self.path, self.text, self.tokens = path, text, tokens(text)
        self.matching = self.match_brackets()
        self.bodies = self.function_bodies()
        self.patterns = self.pattern_ranges()
        self.mutants = []

    def match_brackets(self):
        stack, pairs = [], {}
        for index, token in enumerate(self.tokens):
            if token.kind != "symbol":
                continue
            if token.text in OPEN:
                stack.append(index)
            elif token.text in CLOSE and stack:
                pairs[stack.pop()] = index
        return pairs

    def function_bodies(self):
        """(keyword, first token, last token) of the bodies of functions, accessors and initialisers."""
        bodies = []
        for index, token in enumerate(self.tokens):
            if token.kind != "word" or token.text not in ("func", "init", "deinit", "subscript", "var"):
                continue
            if index and self.tokens[index - 1].text == ".":
                continue
            at = index + 1
            while at < len(self.tokens) and self.tokens[at].text != "{":
                if self.tokens[at].text in ("(", "["):
                    at = self.matching.get(at, at)
                elif self.tokens[at].text in ("}", "=", "func", "var", "let", "case", "init"):
                    break
                elif token.text == "var" and "\n" in self.text[self.tokens[at - 1].end:self.tokens[at].start]:
                    break
                at += 1
            if at < len(self.tokens) and self.tokens[at].text == "{" and at in self.matching:
                bodies.append((token.text, at, self.matching[at]))
        return bodies

    def body(self, index):
        """The keyword of the innermost body a token stands in; None outside of all."""
        around = [body for body in self.bodies if body[1] < index < body[2]]
        return max(around, key=lambda body: body[1])[0] if around else None

    def pattern_ranges(self):
        """Where patterns stand: from `case` to `:`, `=` or the end of an enum's line. Nothing there is an expression."""
        ranges = []
        for index, token in enumerate(self.tokens):
            if token.kind == "word" and token.text in ("case", "indirect"):
                at = index + 1
                line_end = self.text.find("\n", token.start)
                while at < len(self.tokens):
                    text = self.tokens[at].text
                    if text in OPEN and at in self.matching and text != "{":
                        at = self.matching[at]
                    elif text in (":", "where") or (text == "=" and self.in_condition(index)):
                        break
                    elif text in ("{", "}") or (self.tokens[at].start > line_end and self.body(index) is None):
                        break
                    at += 1
                ranges.append((index, at))
        return ranges

    def in_condition(self, index):
        return index > 0 and self.tokens[index - 1].text in ("if", "guard", "while", "for", ",")

    def in_pattern(self, index):
        return any(first <= index < last for first, last in self.patterns)

    def add(self, operator, first, last, before, after):
        start, end = self.tokens[first].start, self.tokens[last].end
        snippet = " ".join(self.text[start:end].split())
        self.mutants.append(
            Mutant(self.path, self.text.count("\n", 0, start) + 1, operator, start, end, before, after, snippet[:140]))

    def conditions(self):
        for index, token in enumerate(self.tokens):
            if token.kind != "word" or token.text not in ("if", "guard", "while", "where"):
                continue
            if index and self.tokens[index - 1].text in (".", "#"):
                continue
            if self.body(index) is None or (token.text == "where" and not self.is_expression_where(index)):
                continue
            first = at = index + 1
            while at < len(self.tokens):
                text = self.tokens[at].text
                is_end = text == "{" or (token.text == "guard" and text == "else") or (token.text == "where" and text == ":")
                if text == "{" and token.text == "guard":
                    is_end = False
                if text in ",{" and text == "," or is_end:
                    self.condition(first, at - 1)
                    first = at + 1
                    if is_end:
                        break
                elif text in OPEN and at in self.matching:
                    at = self.matching[at]
                at += 1

    def is_expression_where(self, index):
        for at in range(index - 1, max(index - 60, -1), -1):
            text = self.tokens[at].text
            if text in ("case", "for", "catch"):
                return True
            if text in ("func", "extension", "struct", "protocol", "init", "enum", "class", "associatedtype", "}", ";"):
                return False
        return False

    def condition(self, first, last):
        if last < first:
            return
        words = [token.text for token in self.tokens[first:last + 1]]
        if words[0] in ("let", "var", "case", "_", "#available", "#unavailable", "#if") or "try" in words or "await" in words:
            return
        self.add("never", first, last, "(!isMutant({}) && (", "))")
        self.add("always", first, last, "(isMutant({}) || (", "))")

    def literals(self):
        for index, token in enumerate(self.tokens):
            before = self.tokens[index - 1].text if index else ""
            if self.body(index) is None or self.in_pattern(index) or before in (".", "#", "@"):
                continue
            if token.kind == "word" and token.text in ("true", "false"):
                other = "false" if token.text == "true" else "true"
                self.add("literal", index, index, "(isMutant({}) ? " + other + " : ", ")")
            elif token.kind == "number" and token.text.replace("_", "").isdigit():
                value = int(token.text.replace("_", ""))
                if value not in EDGES and "..." not in (before, self.next(index)) and "..<" not in (before, self.next(index)):
                    self.add("number", index, index, "(isMutant({}) ? " + str(value + 1) + " : ", ")")

    def next(self, index):
        return self.tokens[index + 1].text if index + 1 < len(self.tokens) else ""

    def statements(self):
        starts = {token.start: index for index, token in enumerate(self.tokens)}
        offset = 0
        for line in self.text.split("\n"):
            column = len(line) - len(line.lstrip())
            index = starts.get(offset + column)
            offset += len(line) + 1
            if index is None or not STATEMENT.match(line.strip()):
                continue
            if self.body(index) in (None, *NO_MUTATION_IN):
                continue
            last = self.statement_end(index)
            if last is None:
                continue
            single = self.tokens[index - 1].text == "{" and self.next(last) == "}"
            if single and not line.strip().startswith("effects"):
                continue
            if self.tokens[index - 1].text not in ("{", "}", ":", ")", "]") and self.tokens[index - 1].kind == "symbol":
                continue
            self.add("statement", index, last, "if !isMutant({}) {{ ", " }")

    def statement_end(self, index):
        """The last token of the statement that begins at a token; None if it goes on in a form not known here."""
        at = index
        while at < len(self.tokens):
            if self.tokens[at].text in OPEN and at in self.matching:
                at = self.matching[at]
            following = self.tokens[at + 1] if at + 1 < len(self.tokens) else None
            if following is None or following.text in CLOSE or following.text == ";":
                return at
            if "\n" in self.text[self.tokens[at].end:following.start]:
                ends = following.kind in ("word", "number", "tick") or following.text in ("{",)
                goes_on = self.tokens[at].kind == "symbol" and self.tokens[at].text not in CLOSE
                return at if ends and not goes_on else None
            at += 1
        return None

    def plan(self):
        self.conditions()
        self.literals()
        self.statements()
        return self.mutants


def plan(path, text):
    """The mutants of a file, in no order of importance."""
    return File(path, text).plan()


def apply(text, mutants):
    """The text with all of these mutants compiled in. Those that lie in one another nest; equal ranges nest in their order."""
    marks = []
    for order, mutant in enumerate(mutants):
        size = mutant.end - mutant.start
        marks.append((mutant.start, 1, -size, order, mutant.before.format(mutant.number)))
        marks.append((mutant.end, 0, size, -order, mutant.after))
    out, position = [], 0
    for at, _, _, _, piece in sorted(marks):
        out += [text[position:at], piece]
        position = at
    return "".join(out + [text[position:]])
