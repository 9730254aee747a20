#!/usr/bin/python3
"""Checks the words of the Swift code against docs/glossary.md.

Refuses (1) a type or function whose whole name is retired, and (2) a doc comment that begins with a question word, a
pronoun or a negation instead of the thing or a verb.

usage: words.py    tests itself with planted faults, then checks the repository; prints one line for each fault
"""
import pathlib
import re
import subprocess
import sys

# Whole names of types and functions, with the name that replaces each (docs/glossary.md, "Retired words").
RETIRED = {
    "AccountLine": "AccountClient",
    "AccountTraffic": "AccountLoad",
    "Admission": "ConcurrencyLimit",
    "AnswersByVersion": "EntitlementCache",
    "AppStoreDamage": "AppStoreAnswerDefect",
    "AppStorePlace": "AppStoreSearch",
    "AppStoreTrouble": "AppStoreFailure",
    "AppleDesk": "AppStoreGatewayFixture",
    "Cause": "AuditContext",
    "Desk": "GatewayFixture",
    "Door": "LoadShedder",
    "DoorHandler": "LoadSheddingHandler",
    "Endpoint": "Route",
    "Fence": "the cancellation of an attempt, or the epoch of a lease",
    "Live": "SystemDependencies",
    "Mint": "TestCertificates",
    "Passage": "CheckoutAttempt",
    "Pending": "DeferredResult",
    "Perishable": "RetentionTable",
    "PostgresPulse": "PostgresHealth",
    "PurchaseHold": "OwnershipDecision",
    "PurchasePlace": "PurchaseIdentity",
    "Remembered": "DecodeCache",
    "RemoteWords": "RemoteWire",
    "Stage": "ConformanceFixture",
    "StandIn": "FakeServer",
    "StoreWord": "StatementSource",
    "Traffic": "AccountLoad",
    "Trouble": "FaultInjection",
    "WalletDesk": "ApplePayGatewayFixture",
    "folded": "merged by purchase",
    "giveHeld": "grantDuplicate",
    "regrade": "recompute",
    "regradeSubscription": "recompute",
    "remembered": "a cache, by its name",
    "touch": "publish",
}
# Ends of names of types in tests that meant several things.
RETIRED_ENDS = {
    "Desk": "GatewayFixture",
    "DeskTests": "GatewayTests",
    "Mint": "TestCertificates",
    "StandIn": "Fake…Server",
}

# No comment, and no paragraph of one, begins with these.
RELATIVES = """
    What Whatever Who Whoever Whom Whose Whether Which How Where Wherever When Whenever Why Those Of Nobody
""".split()
# No documentation of a declaration begins with these either; a later paragraph may speak of "it".
PRONOUNS = "One None Nothing It There".split()

DECLARATION = re.compile(r"\b(?:struct|enum|class|actor|protocol|typealias|func)\s+`?([A-Za-z_]\w*)")
COMMENT = re.compile(r"\s*///?\s*\w")
BEGINNING = re.compile(rf"\s*///?\s*({'|'.join(RELATIVES)})\b|\s*///\s*({'|'.join(PRONOUNS)})\b")


def retired(name):
    """Returns the name that replaces a retired one; None for a name that is not retired."""
    if name in RETIRED:
        return RETIRED[name]
    return next((to for end, to in RETIRED_ENDS.items() if name.endswith(end) and name[0].isupper()), None)


def faults(text):
    """Yields the line number and the message of each fault of a Swift file."""
    was_comment, was_empty = False, False
    for number, line in enumerate(text.splitlines(), 1):
        # After a comment's line without words its next paragraph begins.
        is_comment, is_empty = COMMENT.match(line) is not None, line.strip() in ("//", "///")
        if is_comment and not was_comment and (found := BEGINNING.match(line)) and (found[1] or not was_empty):
            yield number, f"a comment begins with \"{found[1] or found[2]}\"; begin with the thing or with a verb"
        if not line.lstrip().startswith("//"):
            for found in DECLARATION.finditer(line):
                if to := retired(found[1]):
                    yield number, f"\"{found[1]}\" is a retired name; see docs/glossary.md: {to}"
        was_comment, was_empty = is_comment, is_empty


def test():
    """Expects one fault in each planted text that has one, and none in the others."""
    planted = [
        ("struct Desk {", 1), ("final class StripeStandIn {}", 1), ("enum PayPalMint {", 1), ("// struct Desk", 0),
        ("let desk = Desktop()", 0), ("/// Whether it runs.\nvar a = 1", 1), ("/// The state.\n/// What follows.\n", 0),
        ("/// Returns whether it runs.\n", 0), ("/// One of two.\n", 1), ("/// Whereabouts.\n", 0),
        ("// Where it fails.\n", 1), ("/// The state.\n///\n/// Those that follow.\n", 1),
        ("/// The state.\n///\n/// It is read.\n", 0), ("let a = 1  // One\n", 0),
    ]
    for text, count in planted:
        found = list(faults(text))
        assert len(found) == count, (text, found)


def main():
    test()
    names = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "--", "*.swift"], check=True, capture_output=True, text=True
    ).stdout
    failed = False
    for name in names.splitlines():
        path = pathlib.Path(name)
        if path.is_file():
            for number, message in faults(path.read_text()):
                print(f"{name}:{number}: {message}")
                failed = True
    return 1 if failed else 0


sys.exit(main())
