#!/usr/bin/python3
"""Checks the files of deploy/: compose.yaml by its schema, alerts and dashboard by the metrics that the server has, the unit.

usage: deploy.py    tests itself with planted faults, then checks the repository; prints one line for each fault

Needs Debian's python3-jsonschema and python3-yaml.
"""
import json
import pathlib
import re
import subprocess
import sys

import jsonschema
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMPOSE, SCHEMA = "deploy/compose.yaml", "deploy/schema/compose-spec.json"
ENVIRONMENT, UNIT = "deploy/compose.env.example", "deploy/systemd/paydesk.service"
ALERTS, ALERTS_TEST, BOARD = "deploy/prometheus/alerts.yaml", "deploy/prometheus/alerts.test.yaml", "deploy/grafana/paydesk.json"
DOCKERFILE, IMAGE, OPERATIONS = "deploy/Dockerfile", "deploy/scripts/image.sh", "docs/operations.md"
# What a histogram's series are called by.
PARTS = re.compile(r"_(bucket|sum|count)$")
HARDENING = """
    CapabilityBoundingSet= ExecReload= LockPersonality=yes MemoryDenyWriteExecute=yes NoNewPrivileges=yes PrivateDevices=yes
    PrivateTmp=yes ProtectHome=yes ProtectSystem=strict RestrictNamespaces=yes StateDirectory=paydesk SystemCallFilter=
    User=paydesk
""".split()


# Compose


def compose_faults(files):
    """Breaches of the schema, and of what the nodes promise."""
    compose = yaml.safe_load(files[COMPOSE])
    schema = json.loads(files[SCHEMA])
    for error in jsonschema.Draft7Validator(schema).iter_errors(compose):
        yield COMPOSE, f"{error.json_path}: {error.message[:200]}"
        return
    services = compose["services"]
    nodes = {name: each for name, each in services.items() if "paydesk" in each.get("image", "")}
    if len(nodes) != 2:
        yield COMPOSE, f"has {len(nodes)} nodes, not two"
    if not any("postgres" in each.get("image", "") for each in services.values()):
        yield COMPOSE, "has no PostgreSQL"
    for name, node in nodes.items():
        if node.get("read_only") is not True:
            yield COMPOSE, f"{name}: the root is not read-only"
        if str(node.get("user", "0")).split(":")[0] in ("0", "root"):
            yield COMPOSE, f"{name}: runs as root"
        if "healthcheck" not in node:
            yield COMPOSE, f"{name}: has no health check"
        environment = node.get("environment", {})
        for variable in re.findall(r"\$\$\{(\w+)", environment.get("PAYDESK_CONFIG_YAML", "")):
            if variable not in environment:
                yield COMPOSE, f"{name}: its settings name {variable}, which its environment lacks"
    for name, service in services.items():
        for port in service.get("ports", []):
            if "proxy" not in name and not str(port).startswith("127.0.0.1:"):
                yield COMPOSE, f"{name}: publishes {port}, which only the proxy may"
        for volume in service.get("volumes", []):
            path = str(volume).split(":")[0]
            if path.startswith("./") and path != "./providers" and f"deploy/{path[2:]}" not in files:
                yield COMPOSE, f"{name}: mounts {path}, which is not there"
    wanted = set(re.findall(r"(?<!\$)\$\{(\w+)", re.sub(r"(?m)^\s*#.*", "", files[COMPOSE])))
    given = set(re.findall(r"(?m)^(\w+)=", files[ENVIRONMENT]))
    for variable in sorted(wanted ^ given):
        yield ENVIRONMENT, f"{variable} is {'missing' if variable in wanted else 'not wanted'}"


# Metrics


def known_metrics(files):
    """The metrics that the page of the operator names, which lint compares with the code."""
    return set(re.findall(r"`(paydesk_[a-z_]+)", files[OPERATIONS]))


def metric_faults(files):
    known = known_metrics(files)
    for path in (ALERTS, BOARD):
        names = set(re.findall(r"paydesk_\w+", files[path]))
        for name in sorted(names):
            if name not in known and PARTS.sub("", name) not in known:
                yield path, f"there is no metric {name}"
        if not names:
            yield path, "names no metric"


def alert_faults(files):
    tested = files[ALERTS_TEST]
    names = set()
    for group in yaml.safe_load(files[ALERTS])["groups"]:
        for rule in group["rules"]:
            name = rule["alert"]
            if name in names:
                yield ALERTS, f"{name} is there twice"
            names.add(name)
            if rule.get("labels", {}).get("severity") not in ("page", "ticket"):
                yield ALERTS, f"{name} has no severity"
            if not all(rule.get("annotations", {}).get(each) for each in ("summary", "description")):
                yield ALERTS, f"{name} does not say what it is, and what to do"
            if not re.search(rf"\b{name}\b", tested):
                yield ALERTS_TEST, f"does not test {name}"


def board_faults(files):
    board = json.loads(files[BOARD])
    panels = board["panels"]
    ids = [panel["id"] for panel in panels]
    if len(ids) != len(set(ids)):
        yield BOARD, "two panels have one id"
    taken = {}
    for panel in panels:
        box = panel["gridPos"]
        for x in range(box["x"], box["x"] + box["w"]):
            for y in range(box["y"], box["y"] + box["h"]):
                if x >= 24 or (x, y) in taken:
                    yield BOARD, f"{panel['title']} lies over {taken.get((x, y), 'the edge')}"
                    return
                taken[(x, y)] = panel["title"]
        if panel["type"] != "row" and not (panel.get("description") and panel.get("targets")):
            yield BOARD, f"{panel['title']} says or asks nothing"
    variables = {each["name"] for each in board["templating"]["list"]}
    for name in set(re.findall(r"\$\{?([a-z]\w*)", files[BOARD])) - variables:
        yield BOARD, f"there is no variable {name}"


# The unit and the image


def unit_faults(files):
    lines = files[UNIT].splitlines()
    for wanted in HARDENING:
        if not any(line.startswith(wanted) for line in lines):
            yield UNIT, f"has no {wanted}"


def image_faults(files):
    """The Dockerfile makes the same image as image.sh."""
    words = {"user": "USER", "workingdir": "WORKDIR", "volume": "VOLUME", "port": "EXPOSE", "stop-signal": "STOPSIGNAL"}
    for option, instruction in words.items():
        ours = re.search(rf"--{option} (\S+)", files[IMAGE])
        theirs = re.search(rf"(?m)^{instruction} (\S+)$", files[DOCKERFILE])
        if not ours or not theirs or ours[1] != theirs[1]:
            yield DOCKERFILE, f"{instruction} is not that of image.sh"
    if not re.search(r'(?m)^ENTRYPOINT \["/usr/bin/paydesk"\]$', files[DOCKERFILE]) or "HEALTHCHECK" not in files[DOCKERFILE]:
        yield DOCKERFILE, "has another program than image.sh, or no health check"


def script_faults(files):
    for path in sorted(files):
        if path.startswith("deploy/scripts/") and path.endswith(".sh") or path.startswith("deploy/debian/p"):
            done = subprocess.run(["sh", "-n"], input=files[path], capture_output=True, text=True)
            if done.returncode:
                yield path, done.stderr.strip()


def faults(files):
    for check in (compose_faults, metric_faults, alert_faults, board_faults, unit_faults, image_faults, script_faults):
        yield from check(files)


# The file, what is replaced, by what, and what the fault says.
PLANTED = [
    (COMPOSE, "read_only: true", "read_only: 7", "$.services"),
    (COMPOSE, "read_only: true", "read_only: false", "is not read-only"),
    (COMPOSE, 'user: "10001:10001"', 'user: "0:0"', "runs as root"),
    (COMPOSE, "restart: unless-stopped", "restrat: no", "$.services"),
    (COMPOSE, "image: postgres:16", "image: mysql:8", "has no PostgreSQL"),
    (COMPOSE, "    networks: [inside]\n", "    networks: [inside]\n    ports: [\"5432:5432\"]\n", "only the proxy may"),
    (COMPOSE, "    PAYDESK_SECRET_KEY: $", "    PAYDESK_OTHER_KEY: $", "which its environment lacks"),
    (COMPOSE, "./Caddyfile:", "./Nowhere:", "which is not there"),
    (COMPOSE, "${PAYDESK_VERSION:?", "${PAYDESK_EDITION:?", "PAYDESK_EDITION is missing"),
    (ENVIRONMENT, "PAYDESK_DOMAIN=", "PAYDESK_HOST=", "PAYDESK_HOST is not wanted"),
    (ALERTS, "paydesk_renewals_overdue", "paydesk_renewals_late", "there is no metric paydesk_renewals_late"),
    (ALERTS, "{severity: page}", "{severity: soon}", "has no severity"),
    (ALERTS, "description: Payers", "remark: Payers", "does not say what it is"),
    (ALERTS_TEST, "PaydeskJobsLate", "PaydeskJobs", "does not test PaydeskJobsLate"),
    (BOARD, "paydesk_streams", "paydesk_brooks", "there is no metric paydesk_brooks"),
    (BOARD, '"id": 2,', '"id": 1,', "two panels have one id"),
    (BOARD, '"x": 4', '"x": 3', "lies over"),
    (BOARD, "$instance", "$instant", "there is no variable instant"),
    (UNIT, "\nProtectSystem=strict", "\nProtectSystem=full", "has no ProtectSystem=strict"),
    (DOCKERFILE, "USER 10001:10001", "USER 0:0", "USER is not that of image.sh"),
    ("deploy/scripts/size.sh", "\nset -eu", "\nif set -eu", "yntax error"),
]


def test(files):
    """Each planted fault is reported where the files as they are do not have it."""
    before = list(faults(files))
    for path, old, new, expected in PLANTED:
        assert old in files[path], f"{old} is not in {path}"
        planted = {**files, path: files[path].replace(old, new, 1)}
        found = [message for where, message in faults(planted) if (where, message) not in before]
        assert any(expected in message for message in found), f"{old} -> {new} in {path}: {expected!r} not in {found}"


def main():
    files = {path.relative_to(ROOT).as_posix(): path.read_text()
             for path in [*ROOT.glob("deploy/**/*"), ROOT / OPERATIONS] if path.is_file()}
    test(files)
    found = [f"{path}: {message}" for path, message in faults(files)]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


sys.exit(main())
