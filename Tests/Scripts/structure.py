#!/usr/bin/env python3
"""Prints how the Swift code is laid out, as figures that can be compared before and after a change.

usage: structure.py [folder ...]      default: Sources Providers

methods    functions, subscripts and computed operations declared in a type and in all its extensions
parameters functions with more than eight parameters
comments   documentation comments by their first word, and the share that begins with a free relative or a pronoun
files      lines, and files under 25 lines
"""

import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

# A documentation comment that begins so says nothing about its subject until the reader has read on.
VAGUE = {"What", "Who", "Whether", "Whom", "Whose", "Which", "One", "Nothing", "Nobody", "None", "Where", "When", "How", "It", "They", "There"}

MODIFIERS = r"(?:@\w+(?:\([^)]*\))?\s+|(?:public|package|internal|fileprivate|private|open|final|static|class|indirect|nonisolated|mutating|nonmutating|override|convenience|required|isolated|consuming|borrowing)\s+)*"
TYPE = re.compile(rf"^\s*{MODIFIERS}(?:struct|class|enum|actor|protocol|extension)\s+([A-Z][\w.]*)")
FUNCTION = re.compile(rf"^\s*{MODIFIERS}(?:func\s+([^\s(<]+)|(init)\b|(subscript)\b)")


def without_text(line: str) -> str:
    """The line without string literals and comments, so that braces in them do not count."""
    line = re.sub(r'"(?:\\.|[^"\\])*"', '""', line)
    return line.split("//", 1)[0]


def parameters(lines: list[str], at: int) -> int:
    """The number of parameters of the function whose declaration begins in line `at`."""
    text, depth, count, seen, angle = "", 0, 0, False, 0
    for line in lines[at : at + 40]:
        text += without_text(line) + "\n"
    start = text.find("(")
    if start < 0:
        return 0
    for character in text[start:]:
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
            if depth == 0:
                break
        elif character == "<":
            angle += 1
        elif character == ">" and angle:
            angle -= 1
        elif character == "," and depth == 1 and angle == 0:
            count += 1
        elif depth == 1 and not character.isspace():
            seen = True
    return count + 1 if seen else 0


def main() -> None:
    folders = sys.argv[1:] or ["Sources", "Providers"]
    files = [f for folder in folders for f in sorted(Path(folder).rglob("*.swift")) if "Tests" not in f.parts or "Tests" in folders]
    methods: Counter[str] = Counter()
    where: dict[str, set[str]] = defaultdict(set)
    wide: list[tuple[int, str]] = []
    words: Counter[str] = Counter()
    total_lines = small = functions = 0
    for file in files:
        lines = file.read_text().splitlines()
        total_lines += len(lines)
        small += len(lines) < 25
        stack: list[tuple[int, str]] = []  # (depth at which the type's body begins, its name)
        depth, pending = 0, None
        for number, line in enumerate(lines):
            stripped = line.strip()
            if stripped.startswith("///"):
                if number == 0 or not lines[number - 1].strip().startswith("///"):
                    first = re.match(r"///\s*([\w'`-]+)", stripped)
                    if first:
                        words[first.group(1)] += 1
                continue
            if found := TYPE.match(line):
                pending = found.group(1)
            if (found := FUNCTION.match(line)) and pending is None:
                owner = stack[-1][1] if stack and depth == stack[-1][0] else None
                if owner or not stack:
                    functions += 1
                    if owner:
                        methods[owner] += 1
                        where[owner].add(str(file))
                    count = parameters(lines, number)
                    name = found.group(1) or found.group(2) or found.group(3)
                    if count > 8 and name != "init":
                        wide.append((count, f"{file}:{number + 1} {owner or ''}.{name}"))
            for character in without_text(line):
                if character == "{":
                    depth += 1
                    if pending is not None:
                        stack.append((depth, pending))
                        pending = None
                elif character == "}":
                    depth -= 1
                    while stack and stack[-1][0] > depth:
                        stack.pop()
    comments = sum(words.values())
    vague = sum(count for word, count in words.items() if word in VAGUE)
    print(f"files {len(files)}, lines {total_lines}, files under 25 lines {small}, functions {functions}")
    print(f"documentation comments {comments}, of which {vague} ({vague / max(comments, 1):.1%}) begin with {', '.join(sorted(w for w in VAGUE if words[w]))}")
    print("first words: " + ", ".join(f"{word} {count}" for word, count in words.most_common(12)))
    print("most methods:")
    for name, count in methods.most_common(12):
        print(f"  {count:4} {name} in {len(where[name])} files")
    print(f"functions with more than 8 parameters, initialisers left out: {len(wide)}")
    for count, name in sorted(wide, reverse=True)[:12]:
        print(f"  {count:4} {name}")


if __name__ == "__main__":
    main()
