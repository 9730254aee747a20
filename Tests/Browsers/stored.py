"""Every stored row of a server's database, on SQLite and on PostgreSQL, for a comparison of before and after."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from contextlib import closing
from functools import cache

from cluster import query
from desk import Desk

Tables = dict[str, Counter]

#: Columns with the server's own times: of the last use, and of its next look.
TIMES = ("last_used_at", "used_at", "look_at", "next_check_at")


def tables(desk: Desk) -> Tables:
    """Every table of the server's database with its rows, less the server's own times."""
    return postgres_tables(desk.database) if desk.database else sqlite_tables(f"{desk.home}/var/paydesk.db")


def changed(before: Tables, after: Tables) -> set[str]:
    """The tables that have other rows now."""
    return {name for name in after if after[name] != before.get(name)}


def sqlite_tables(path: str) -> Tables:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        names = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")]
        return {name: Counter(db.execute(f"SELECT {sqlite_columns(db, name)} FROM {name}").fetchall()) for name in names}


def sqlite_columns(db: sqlite3.Connection, table: str) -> str:
    return ", ".join(row[1] for row in db.execute(f"PRAGMA table_info({table})") if row[1] not in TIMES)


def postgres_tables(url: str) -> Tables:
    columns = postgres_columns(url)
    rows = " UNION ALL ".join(f"SELECT json_build_array('{table}', {', '.join(names)})::text FROM \"{table}\"" for table, names in columns.items())
    found: Tables = {table: Counter() for table in columns}
    for line in query(url, rows):
        table, *values = json.loads(line)
        found[table][tuple(values)] += 1
    return found


@cache
def postgres_columns(url: str) -> dict[str, list[str]]:
    """The columns of each table, in the table's order."""
    found: dict[str, list[str]] = {}
    pairs = """SELECT c.table_name || ' ' || c.column_name FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name)
        WHERE c.table_schema = 'public' AND t.table_type = 'BASE TABLE' ORDER BY c.table_name, c.ordinal_position"""
    for table, column in (line.split(" ") for line in query(url, pairs)):
        found.setdefault(table, []).extend([] if column in TIMES else [f'"{column}"'])
    return found
