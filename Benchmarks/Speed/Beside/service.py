"""The service that a user would write instead of Paydesk: FastAPI, Apple's own library, and SQLite.

It verifies a user's token and a purchase's signature, and writes the rows of an attach in a durable transaction of its own,
with the statements that `paydesk-bench` takes from a database of Paydesk's (`BESIDE_STATEMENTS`, with the number of the
attach as their parameter). A status reads the user's grants.

usage: service.py serve PORT
       service.py verify, which prints how many signatures Apple's library verifies in a second of CPU time
"""

import json
import os
import signal
import sqlite3
import sys
import time
from datetime import datetime, timezone

import jwt
import uvicorn
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier
from fastapi import FastAPI, Header, HTTPException
from pydantic import BaseModel

SECRET = os.environ["BESIDE_SECRET"]
ROOT = open(os.environ["BESIDE_ROOT"], "rb").read()
VERIFIER = SignedDataVerifier([ROOT], False, Environment.PRODUCTION, "com.example.app", app_apple_id=1)
# The bench's certificates name no key of their issuers, which OpenSSL asks for where it is strict.
VERIFIER._chain_verifier.enable_strict_checks = False
# The inverse of the factor by which the bench scatters its users' names.
INVERSE = pow(2654435761, -1, 1 << 32)


def user_of(authorization: str) -> str:
    try:
        return jwt.decode(authorization.removeprefix("Bearer "), SECRET, algorithms=["HS256"])["sub"]
    except jwt.PyJWTError as error:
        raise HTTPException(401) from error


def open_database() -> sqlite3.Connection:
    database = sqlite3.connect(os.environ["BESIDE_DATABASE"], isolation_level=None, check_same_thread=False)
    for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON", "wal_autocheckpoint = 4000"):
        database.execute(f"PRAGMA {pragma}")
    return database


class Attach(BaseModel):
    signed_transaction_jws: str


app = FastAPI()
if "BESIDE_DATABASE" in os.environ:
    DATABASE = open_database()
    STATEMENTS = json.load(open(os.environ["BESIDE_STATEMENTS"]))


@app.get("/")
async def ready() -> dict:
    return {}


@app.post("/v1/public/iap/apple/transactions/attach")
async def attach(body: Attach, authorization: str = Header()) -> dict:
    user = user_of(authorization)
    purchase = VERIFIER.verify_and_decode_signed_transaction(body.signed_transaction_jws)
    number = int(user.removeprefix("user-"), 16) * INVERSE % (1 << 32)
    DATABASE.execute("BEGIN IMMEDIATE")
    for statement in STATEMENTS:
        DATABASE.execute(statement, (number,))
    DATABASE.execute("COMMIT")
    return {"transaction_id": purchase.transactionId, "status": "active"}


@app.get("/v1/public/iap/apple/status")
async def status(authorization: str = Header()) -> dict:
    user = user_of(authorization)
    grants = DATABASE.execute(
        "SELECT g.sku, g.tier, g.purchased_at, g.days FROM grants g JOIN users u ON u.id = g.user_id"
        " WHERE u.external_id = ? AND g.revoked_at IS NULL",
        (user,),
    ).fetchall()
    ends = [(purchased + (days or 0) * 86_400, tier) for _, tier, purchased, days in grants]
    end, tier = max(ends, default=(0, ""))
    expires = datetime.fromtimestamp(end, timezone.utc).isoformat()
    return {"active": end > time.time(), "tier": tier, "expires_at": expires}


def verify() -> None:
    signed = open(os.environ["BESIDE_SIGNED"]).read().split()
    for text in signed[:20]:
        VERIFIER.verify_and_decode_signed_transaction(text)
    began = time.process_time()
    for text in signed:
        VERIFIER.verify_and_decode_signed_transaction(text)
    print(len(signed) / (time.process_time() - began))


def serve(port: int) -> None:
    # The server raises the signal again once it has stopped.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    uvicorn.run(app, host="127.0.0.1", port=port, access_log=False, log_level="warning")


if __name__ == "__main__":
    if sys.argv[1] == "verify":
        verify()
    else:
        serve(int(sys.argv[2]))
