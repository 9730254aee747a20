#!/usr/bin/python3
"""Checks the Markdown documents against the tree and against docs/openapi.json.

usage: docs.py            tests itself with planted faults, then checks the repository; prints one line for each fault
       docs.py --format   reads JSON from standard input and writes it in the form of docs/openapi.json

Needs Debian's python3-jsonschema.
"""
import fnmatch
import json
import pathlib
import posixpath
import re
import subprocess
import sys

import jsonschema

README_LIMIT = 9_000
# What Swift files are called by in backticks, relative to one of these folders.
ROOTS = ("", "Sources/", "Providers/", "Config/")
# Pages that are about another folder than their own.
ABOUT = {"Sources/ProviderKit/ProviderKit.docc/WritingAProvider.md": "Examples/PiggyDesk"}
EXTENSIONS = "swift md yaml yml json py sh example modulemap docc".split()
# Files that an operator makes from a shipped example, or that a tool of somebody else's makes.
OTHER_FILES = ["*-main.yaml", "apple-pay.yaml", "Providers/Piggy/*", "*/.build/*"]
# Types, protocols and schemes of Apple's and of others.
OTHER_TYPES = """
    ApplePaySession PKPaymentRequest PKPaymentToken PaymentIntent PaymentIntents URLSession JSONDecoder JSONEncoder
    PaymentRequest FoundationEssentials HTTPClient VmRSS AlipaySDK PayReq PayTask UInt32 WXApi WXApiDelegate WXApiObject
    WXPayEntryActivity WeixinJSBridge
""".split()


class Tree:
    """The files of a repository, by their paths."""

    def __init__(self, files):
        self.files = files
        self.folders = {folder.as_posix() for path in files for folder in pathlib.PurePosixPath(path).parents}
        self.endings = {path[at + 1:] for path in files for at in [-1, *(m.start() for m in re.finditer("/", path))]}

    @staticmethod
    def repository():
        names = subprocess.run(
            ["git", "ls-files", "-co", "--exclude-standard"], check=True, capture_output=True, text=True).stdout
        paths = [pathlib.Path(name) for name in names.splitlines()]
        files = {}
        for path in paths:
            if path.is_file():
                try:
                    files[path.as_posix()] = path.read_text()
                except UnicodeDecodeError:
                    files[path.as_posix()] = ""
        return Tree(files)

    def matching(self, pattern):
        return [text for path, text in sorted(self.files.items()) if fnmatch.fnmatch(path, pattern)]

    def has(self, path):
        return path in self.files or path in self.folders


class Document:
    """A Markdown file: its blocks of code, and its other lines."""

    def __init__(self, path, text):
        self.path = path
        self.prose = []  # (line number, text)
        self.blocks = []  # (line number, language, text, marker)
        block, marker = None, ""
        for number, line in enumerate(text.splitlines(), 1):
            fence = re.match(r"\s*```(\w*)\s*$", line)
            if block is not None:
                if fence and not fence[1]:
                    self.blocks.append(block)
                    block, marker = None, ""
                else:
                    block[2].append(line)
            elif fence:
                block = (number, fence[1], [], marker)
            else:
                self.prose.append((number, line))
                comment = re.fullmatch(r"<!-- (.*) -->", line.strip())
                marker = comment[1] if comment else ""

    def anchors(self):
        """The anchors of its headings, as GitHub makes them."""
        seen = {}
        for _, line in self.prose:
            heading = re.match(r"#{1,6} (.*)", line)
            if heading:
                text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading[1]).replace("`", "").strip().lower()
                slug = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
                seen[slug] = seen.get(slug, -1) + 1
                yield slug if not seen[slug] else f"{slug}-{seen[slug]}"

    def links(self):
        for number, line in self.prose:
            for match in re.finditer(r"\]\(([^()\s]+)\)", re.sub(r"`[^`]*`", "``", line)):
                yield number, match[1]

    def names(self):
        """What stands in backticks outside of blocks."""
        for number, line in self.prose:
            for match in re.finditer(r"(`+)([^`]+)\1", line):
                yield number, match[2].strip()


# Links


def link_faults(tree, documents):
    for document in documents.values():
        for number, link in document.links():
            if re.match(r"[a-z]+:", link):
                continue
            path, _, anchor = link.partition("#")
            folder = posixpath.dirname(document.path)
            target = posixpath.normpath(posixpath.join(folder, path)) if path else document.path
            if not tree.has(target):
                yield document.path, number, f"the link {link} leads nowhere"
            elif anchor and (target not in documents or anchor not in documents[target].anchors()):
                yield document.path, number, f"the link {link} names a heading that is not there"


# Names


def declared_types(tree):
    pattern = re.compile(r"\b(?:struct|enum|class|actor|protocol|typealias|associatedtype|case|macro)\s+([A-Z]\w*)")
    names = set(OTHER_TYPES)
    for path, text in tree.files.items():
        if path.endswith((".swift", ".js")):
            names.update(pattern.findall(text))
        if path.endswith(".swift"):
            names.update(re.findall(r'(?:name: |provider\()"([A-Z]\w*)"', text) if "Package" in path else [])
            names.add(posixpath.basename(path)[:-len(".swift")])
    names.update(posixpath.basename(folder) for folder in tree.folders)
    if "docs/openapi.json" in tree.files:
        names.update(json.loads(tree.files["docs/openapi.json"]).get("components", {}).get("schemas", {}))
    return names


def file_fault(tree, name, page):
    """Why a name in backticks is no file of the tree; None where it is one, or is not the name of a file."""
    if not re.fullmatch(r"[\w.+*-]+(/[\w.+*-]+)*/?", name):
        return None
    path = name.rstrip("/")
    first = path.split("/")[0]
    own = ABOUT.get(page, posixpath.dirname(page)) + "/"
    roots = [*ROOTS, own.removeprefix("/")]
    is_rooted = "/" in path and any(root + first in tree.folders for root in roots)
    has_extension = path.rpartition(".")[2] in EXTENSIONS and not path.startswith(".")
    if not is_rooted and not has_extension:
        return None
    if any(fnmatch.fnmatch(each, pattern) for each in (path, posixpath.basename(path)) for pattern in OTHER_FILES):
        return None
    candidates = [root + path + ending for root in roots for ending in ("", ".swift")]
    if any(tree.has(candidate) for candidate in candidates) or (has_extension and path in tree.endings):
        return None
    if "*" in path and any(fnmatch.filter([*tree.files, *tree.folders], candidate) for candidate in candidates):
        return None
    return f"there is no file {name}"


def type_fault(types, name, path):
    bare = re.sub(r"<.*>$", "", name).split(".")[0]
    if not re.fullmatch(r"[A-Z][A-Za-z0-9]+", bare) or bare in types:
        return None
    humps = sum(letter.isupper() for letter in bare)
    is_type = humps > 1 and any(letter.islower() for letter in bare)
    # Where the code itself is described, a single word is a type as well.
    is_type |= path in ("docs/architecture.md", "docs/glossary.md") and not bare.isupper()
    return f"there is no type {bare}" if is_type else None


def name_faults(tree, documents):
    types = declared_types(tree)
    for path, document in documents.items():
        if path == "CHANGELOG.md":  # It tells of what was.
            continue
        for number, name in document.names():
            fault = file_fault(tree, name, path) or type_fault(types, name, path)
            if fault:
                yield path, number, fault


def comment_faults(tree, documents):
    """Pages that comments of the code cite, with the numbers of their sections."""
    for path, text in tree.files.items():
        if not path.endswith(".swift"):
            continue
        for match in re.finditer(r"///? .*", text):
            for cited in re.finditer(r"`([\w/.-]+\.md)`(?: section (\d+))?", match[0]):
                found = [each for each in documents if each == cited[1] or each.endswith("/" + cited[1])]
                number = text.count("\n", 0, match.start()) + 1
                if not found:
                    yield path, number, f"there is no page {cited[1]}"
                elif cited[2] and not any(
                        re.match(rf"## {cited[2]}\. ", line) for each in found for _, line in documents[each].prose):
                    yield path, number, f"{cited[1]} has no section {cited[2]}"


def outside_faults(tree):
    for path, text in tree.files.items():
        if path.endswith("docs.py"):
            continue
        for number, line in enumerate(text.splitlines(), 1) if "/shared/" in text else []:
            if re.search(r"(\.\.|/work)/shared/", line):
                yield path, number, "mentions a folder outside of the repository"


# Examples


def strict(schema):
    """The schema without room for members that it does not name."""
    if isinstance(schema, list):
        return [strict(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: strict(value) for key, value in schema.items()}
    if isinstance(schema.get("properties"), dict) and "additionalProperties" not in schema and "type" in schema:
        made["additionalProperties"] = False
    return made


def resolved(openapi, value):
    while "$ref" in value:
        target = openapi
        for step in value["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        value = target
    return value


def example_schema(openapi, marker):
    """The schema that a marker names.

    Raises LookupError with what is wrong with the marker.
    """
    words = marker.split()
    if len(words) == 2 and words[0] == "schema":
        if words[1] not in openapi["components"]["schemas"]:
            raise LookupError(f"there is no schema {words[1]}")
        return openapi["components"]["schemas"][words[1]]
    if len(words) < 3 or not words[0].isupper() or not words[1].startswith("/"):
        raise LookupError("the comment before the block names no operation, as in <!-- GET /healthz 200 -->")
    operation = openapi["paths"].get(words[1], {}).get(words[0].lower())
    if operation is None:
        raise LookupError(f"there is no operation {words[0]} {words[1]}")
    if words[2:] == ["request"]:
        content = resolved(openapi, operation.get("requestBody", {}))
    else:
        content = resolved(openapi, operation["responses"].get(words[2], {}))
    schema = content.get("content", {}).get("application/json", {}).get("schema")
    if schema is None:
        raise LookupError(f"{words[0]} {words[1]} has no JSON for {words[2]}")
    if words[3:] == ["data"]:
        schema = resolved(openapi, schema)["properties"]["data"]
    elif words[3:]:
        raise LookupError(f"{' '.join(words[3:])} means nothing here")
    return schema


def fits(openapi, value, schema):
    """What is wrong with the value, the most telling fault first."""
    whole = strict({**schema, "components": openapi["components"]})
    validator = jsonschema.Draft202012Validator(whole)
    errors = sorted(validator.iter_errors(value), key=lambda error: error.json_path)
    for error in errors:
        best = jsonschema.exceptions.best_match([error])
        yield f"{best.json_path}: {best.message[:200]}"


def example_faults(tree, documents):
    if "docs/openapi.json" not in tree.files:
        yield "docs/openapi.json", 1, "is missing; `make openapi` writes it"
        return
    openapi = json.loads(tree.files["docs/openapi.json"])
    for path, document in documents.items():
        if not path.startswith(("docs/", "README")):
            continue
        for number, language, lines, marker in document.blocks:
            is_json = language == "json" or (not language and lines and lines[0].startswith(("{", "[")))
            if not is_json or marker == "other":
                continue
            if not marker:
                yield path, number, "the JSON block has no comment before it that names its operation"
                continue
            try:
                value = json.loads("\n".join(lines))
                for fault in fits(openapi, value, example_schema(openapi, marker)):
                    yield path, number, f"{marker}: {fault}"
            except json.JSONDecodeError as error:
                yield path, number, f"is no JSON: {error}"
            except LookupError as error:
                yield path, number, error.args[0]


# What the code has and a page must have


def section(document, heading):
    """The lines below a heading, to the next one of its level."""
    inside = False
    for number, line in document.prose:
        if line.startswith(heading + "\n") or line == heading:
            inside = True
        elif inside and re.match(r"#{1,%d} " % heading.count("#"), line):
            return
        elif inside:
            yield number, line


def settings_faults(tree, documents):
    """The table of an account's settings, compared with the schema in the code."""
    for source, text in tree.files.items():
        match = re.fullmatch(r"Providers/(\w+)/Sources/\1Settings\.swift", source)
        if not match:
            continue
        page = {"AppleIAP": "docs/app-store.md", "ApplePay": "docs/apple-pay.md", "WeChatPay": "docs/providers/wechat-pay.md"}
        path = page.get(match[1], f"docs/providers/{match[1].lower()}.md")
        if path not in documents:
            yield path, 1, f"is missing, although there is Providers/{match[1]}"
            continue
        heading = "### Settings" if "providers" not in path else "## Settings"
        lines = list(section(documents[path], heading))
        fields = set(re.findall(r'\bField\(\s*"(\w+)"', text))
        named = {word.rpartition(".")[2] for _, line in lines for word in re.findall(r"`([a-z_0-9.]+)`", line)}
        for field in sorted(fields - named):
            yield path, 1, f"does not name the setting {field}"
        for number, line in lines:
            for word in re.findall(r"`([a-z_0-9.]+)`", line.split("|")[1] if line.startswith("|") else ""):
                if word.rpartition(".")[2] not in fields:
                    yield path, number, f"{word} is no setting of {source}"


def list_faults(tree, documents):
    """Error ids, metrics, keys of paydesk.yaml and commands that their pages do not name."""
    def code(path):
        return tree.files.get(path, "")

    def spoken(page):
        document = documents.get(page)
        return " ".join(name for _, name in document.names()) if document else ""

    errors = code("Sources/HTTPAPI/Pipeline/ErrorID.swift").split("var status")[0]
    wanted = [("docs/api.md", "error id", each or bare) for bare, each in re.findall(
        r'case (\w+)(?: = "(\w+)")?\s*\n', errors)]
    for text in tree.matching("Sources/*.swift"):
        wanted += [("docs/operations.md", "metric", each) for each in re.findall(r'(?<!cookie = )"(paydesk_[a-z_]+)[{" ]', text)]
    top = ""
    for line in code("Config/paydesk.yaml").splitlines():
        key = re.match(r"( {0,2})(?:- )?(\w+):(.*)", line)
        if not key:
            continue
        top = key[2] if not key[1] else top
        if key[1]:
            wanted.append(("docs/configuration.md", "key", f"{top}.{key[2]}"))
        elif key[3].split("#")[0].strip():
            wanted.append(("docs/configuration.md", "key", key[2]))
    for text in tree.matching("Sources/PaydeskServer/Commands/*.swift"):
        wanted += [("docs/configuration.md", "command", each) for each in re.findall(r'commandName: "([a-z]+)"', text)]
    for page, what, name in sorted(set(wanted)):
        if not re.search(rf"(?<![\w.]){re.escape(name)}(?![\w])", spoken(page)) and page in documents:
            yield page, 1, f"does not name the {what} {name}"


def readme_faults(tree, documents):
    shapes = {}
    for path in ("README.md", "README.zh-CN.md"):
        if path not in documents:
            yield path, 1, "is missing"
            continue
        size = len(tree.files[path].encode())
        if size > README_LIMIT:
            yield path, 1, f"has {size} bytes; at most {README_LIMIT} are allowed"
        document = documents[path]
        own = {"README.md", "README.zh-CN.md"}
        shapes[path] = (
            [link for _, link in document.links() if link not in own],
            ["\n".join(lines) for _, language, lines, _ in document.blocks if language == "json"],
            sum(line.startswith("## ") for _, line in document.prose))
    if len(shapes) == 2 and shapes["README.md"] != shapes["README.zh-CN.md"]:
        yield "README.zh-CN.md", 1, "has other links, other JSON examples or other sections than README.md"


def faults(tree):
    documents = {path: Document(path, text) for path, text in tree.files.items() if path.endswith(".md")}
    yield from link_faults(tree, documents)
    yield from name_faults(tree, documents)
    yield from comment_faults(tree, documents)
    yield from outside_faults(tree)
    yield from example_faults(tree, documents)
    yield from settings_faults(tree, documents)
    yield from list_faults(tree, documents)
    yield from readme_faults(tree, documents)


# The test of the checks: each planted fault is found, and nothing else is.

SOUND = {
    "README.md": "# Paydesk\n\nSee [the API](docs/api.md#2-errors).\n",
    "README.zh-CN.md": "# Paydesk\n\n见 [API](docs/api.md#2-errors)。\n",
    "docs/api.md": """# API

`Sources/Domain/Money.swift`, `Domain/Money`, `Money`, `OrderRules.settle`, `money.yaml.example`, `Providers/*/Sources`,
`stripe-main.yaml`, `PKPaymentRequest`, `Idempotency-Key`, `/v1/things`, `one_word`, `XY`, `sha/256`, `not_found`.

## 2. Errors

<!-- POST /v1/things request -->
```json
{"name": "x"}
```

<!-- POST /v1/things 200 -->
```json
{"code": 200, "data": {"id": "t", "note": null}}
```

<!-- POST /v1/things 200 data -->
```json
{"id": "t"}
```

<!-- schema Thing -->
```json
{"id": "t"}
```

<!-- other -->
```json
{"what": "ever"}
```
""",
    "docs/providers/piggy.md": "# Piggy\n\n## Settings\n\n| setting | |\n|---|---|\n| `coin` | `a` or `b.c` |\n",
    "docs/configuration.md": "`mode`, `http.host`, `paydesk serve`",
    "docs/operations.md": "`paydesk_things_total{kind}`",
    "docs/glossary.md": "`Money`",
    "docs/openapi.json": json.dumps({
        "paths": {"/v1/things": {"post": {
            "requestBody": {"content": {"application/json": {"schema": {
                "type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}}}},
            "responses": {"200": {"$ref": "#/components/responses/thing"}, "204": {"description": "none"}},
        }}},
        "components": {
            "responses": {"thing": {"content": {"application/json": {"schema": {
                "type": "object", "required": ["code", "data"],
                "properties": {"code": {"type": "integer"}, "data": {"$ref": "#/components/schemas/Thing"}}}}}}},
            "schemas": {"Thing": {"type": "object", "required": ["id"], "properties": {
                "id": {"type": "string"}, "note": {"type": ["string", "null"]}}}},
        }}),
    "Sources/Domain/Money.swift": "/// An amount (`api.md` section 2).\nstruct Money {}\nenum OrderRules {}\n",
    "Sources/HTTPAPI/Pipeline/ErrorID.swift": 'enum ErrorID {\n    case notFound = "not_found"\n}\n',
    "Sources/PaydeskServer/Commands/CommandLineTool.swift": 'let metric = "paydesk_things_total{"\ncommandName: "serve"\n',
    "Config/paydesk.yaml": "mode: development\nhttp:\n  host: a\n",
    "Config/money.yaml.example": "",
    "Providers/Piggy/Sources/PiggySettings.swift": 'SettingsSchema.Field(\n    "coin", .text)\nstruct PiggySettings {}\n',
}

# The file, what is replaced, by what, and what the fault says.
PLANTED = [
    ("README.md", "api.md#2-errors", "nowhere.md", "leads nowhere"),
    ("README.md", "#2-errors", "#3-more", "a heading that is not there"),
    ("README.md", "# Paydesk", "# Paydesk" + "x" * 9_000, "at most 9000 are allowed"),
    ("README.zh-CN.md", "(docs/api.md#2-errors)", "(docs/api.md)", "has other links"),
    ("docs/api.md", "Domain/Money.swift", "Domain/Coin.swift", "there is no file Sources/Domain/Coin.swift"),
    ("docs/api.md", "`Domain/Money`", "`Domain/Coin`", "there is no file Domain/Coin"),
    ("docs/api.md", "money.yaml.example", "coin.yaml", "there is no file coin.yaml"),
    ("docs/api.md", "*/Sources", "*/Fountains", "there is no file Providers/*/Fountains"),
    ("docs/api.md", "OrderRules.settle", "OrderLaws.settle", "there is no type OrderLaws"),
    ("docs/glossary.md", "Money", "Coin", "there is no type Coin"),
    ("docs/api.md", "not_found", "notfound", "does not name the error id not_found"),
    ("docs/api.md", '{"name": "x"}', '{"name": 1}', "is not of type 'string'"),
    ("docs/api.md", '{"name": "x"}', '{"name": "x", "more": 1}', "'more' was unexpected"),
    ("docs/api.md", '{"name": "x"}', '{"name": …}', "is no JSON"),
    ("docs/api.md", '"note": null', '"note": 1', "$.data.note"),
    ("docs/api.md", "things 200 data", "things 200 more", "more means nothing here"),
    ("docs/api.md", "things 200 data", "things 204", "has no JSON for 204"),
    ("docs/api.md", "POST /v1/things request", "POST /v1/thing request", "no operation POST /v1/thing"),
    ("docs/api.md", "<!-- other -->\n", "", "has no comment before it"),
    ("docs/api.md", "<!-- other -->", "<!-- whatever -->", "names no operation"),
    ("docs/api.md", "schema Thing", "schema Think", "there is no schema Think"),
    ("docs/api.md", "## 2. ", "## 3. ", "api.md has no section 2"),
    ("Sources/Domain/Money.swift", "api.md", "money.md", "there is no page money.md"),
    ("Sources/Domain/Money.swift", "An amount", "See ../shared/design", "outside of the repository"),
    ("Providers/Piggy/Sources/PiggySettings.swift", '"coin"', '"purse"', "coin is no setting"),
    ("docs/providers/piggy.md", "| `coin`", "| `coin`, `purse`", "purse is no setting"),
    ("docs/providers/piggy.md", "| `coin` ", "| ", "does not name the setting coin"),
    ("docs/operations.md", "things", "coins", "does not name the metric paydesk_things_total"),
    ("docs/configuration.md", "http.host", "http.port", "does not name the key http.host"),
    ("docs/configuration.md", "serve", "service", "does not name the command serve"),
    ("docs/openapi.json", '"/v1/things"', '"/v1/thing"', "no operation POST /v1/things"),
]


def test():
    found = list(faults(Tree(SOUND)))
    assert not found, f"a sound tree has faults: {found}"
    for path, old, new, expected in PLANTED:
        assert old in SOUND[path], f"{old} is not in {path}"
        planted = {**SOUND, path: SOUND[path].replace(old, new, 1)}
        found = [message for _, _, message in faults(Tree(planted))]
        assert any(expected in message for message in found), f"{old} -> {new} in {path}: {expected!r} not in {found}"


def main():
    if sys.argv[1:] == ["--format"]:
        json.dump(json.load(sys.stdin), sys.stdout, indent=1, sort_keys=True, ensure_ascii=False)
        print()
        return 0
    test()
    found = [f"{path}:{number}: {message}" for path, number, message in faults(Tree.repository())]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


sys.exit(main())
