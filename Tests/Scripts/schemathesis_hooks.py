"""What no schema can say of Paydesk, for Tests/Scripts/schemathesis.sh, which names this file in SCHEMATHESIS_HOOKS.

* Each call has an Idempotency-Key of its own: the same key with another body is 422 by contract.
* Half of the valid calls name things that are there, so that not every answer is 404.
* A valid call may be refused for what is stored, configured or signed, or by a rule between members. REFUSALS lists
  where, by which error id and, of `invalid_request`, with which field and reason; anything else is a finding.

The environment has URL, USER_TOKEN, PARTNER_KEY and ADMIN_KEY.
"""

import itertools
import json
import os
import re
import urllib.request

import schemathesis
from schemathesis.core.failures import AcceptedNegativeData
from schemathesis.core.parameters import ParameterLocation
from schemathesis.openapi.checks import (
    AllowHeaderMismatch, IgnoredAuth, JsonSchemaError, RejectedPositiveData, UnsupportedMethodResponse,
)

# Refusals of valid calls: the operations, the error ids, and for each field the reasons of `invalid_request`.
CHECKOUTS = "openCheckout openPartnerCheckout".split()
SKU_WRITERS = "createSKU changeSKU".split()
SESSION_MAKERS = "createSession createPartnerSession createAdminSession".split()
REFUSALS = [
    # No account takes such a payment, or its provider refuses it: both depend on the accounts' settings.
    ([*CHECKOUTS, "retryCheckout"], ["no_provider_available", "provider_rejected"], {}),
    # What the SKU is sold in; addresses that the configuration allows; bytes, which JSON Schema cannot count.
    ([*CHECKOUTS, "listPaymentMethods"], [], {
        "currency": r"\S+ has no price in this currency",
        "days": r"one of this SKU's options must be named",
        "quantity": r"\S+ is not sold in this quantity",
    }),
    ([*CHECKOUTS, "retryCheckout"], [], {
        "currency": r"the order's currency is [A-Z]{3}",
        "return_url": r"this address is not one of the allowed return_urls",
        "metadata": r"at most 50 keys of 1 to 64 bytes and values of 1,000 bytes, 16 KiB together, in UTF-8",
    }),
    # The apps of a configured account, and the payer whom its first contract needs.
    ([*CHECKOUTS, "retryCheckout"], [], {
        "app_id": r"the account has several app ids for this contract|is not an app id of the account for this contract",
        r"payer\.wechat_openid": r"is missing",
    }),
    # A token is base64url of Apple's JSON.
    (CHECKOUTS, [], {
        "external_purchase_token": r"must be a token of an external purchase, as StoreKit gives it|is not the session's",
        "storefront": r"is missing",
    }),
    (["keepExternalPurchaseToken"], [], {
        "token": r"must be a token of an external purchase, as StoreKit gives it",
    }),
    # A session may leave out what a user must name.
    (["openCheckout", "retryCheckout"], [], {"sku|platform": r"is missing"}),
    # Rules between members of a session, and with the accounts and addresses of the configuration.
    (SESSION_MAKERS, [], {
        "quantity|days": r"is for exactly one SKU",
        "currency": r"\S+ has no price in this currency",
        r"skus\[\d+\]": r"stands twice",
        "provider": r"no account has this id or kind",
        "return_url|cancel_url": r"this address is not one of the allowed return_urls",
        "metadata": r"at most 50 keys of 1 to 64 bytes and values of 1,000 bytes, 16 KiB together, in UTF-8",
        "external_purchase_token": r"must be a token of an external purchase, as StoreKit gives it",
        "storefront": r"is missing",
        r"\w+": r"is not for a portal",
    }),
    # The order is over: 410.
    (["readContract", "readQRImage"], ["order_not_open"], {}),
    # What is left to give back, and what the provider says.
    (["refundOrder", "refundPartnerOrder"], ["refund_exceeds_captured", "provider_rejected"], {
        "amount": r"the order's currency is [A-Z]{3}",
    }),
    # Evidence that Apple, or a wallet, has not signed.
    (["attachPurchase"], ["invalid_transaction", "no_provider_available"], {}),
    # No key, or nobody who may have the offer.
    (["signOffer", "signIntroductoryOffer"], ["no_provider_available"], {
        "bundle_id": r"must name one of the apps", "product_id": r"is no product of a subscription",
    }),
    (["verifyReceipt"], ["invalid_receipt", "invalid_transaction", "no_provider_available"], {}),
    (["payByApplePay"], ["apple_pay_token_invalid"], {}),
    (["openMerchantSession"], ["provider_rejected"], {
        "validation_url": r"is not an address of Apple's payment gateways",
    }),
    (["replayNotification"], ["invalid_notification"], {}),
    # Rules between members of a SKU, between it and the one that is there, and for lists by one member.
    (SKU_WRITERS, [], {
        "units": r"a consumable needs the units that it credits",
        "duration_days": r"a pass needs its number of days|renewal one_period needs the period's number of days",
        "tier": r"a subscription needs a tier, units or attributes that it gives",
        "apple_product_ids": r"a subscription needs an Apple product, or the renewal managed or one_period, to be bought by"
        r"|only a pass \(non_renewing\) has a pattern|at most one pattern",
        "renewal": r"one_period_elsewhere says something else; leave one of the two out|only a subscription is managed",
        "period": r"only a subscription has a period|a managed subscription needs its period",
        "grace_days": r"must be 0 to 28, and shorter than the period",
        r"period\.count": r"must be 1 to \d+ for the unit [a-z]+",
        "prices": r"a SKU needs prices or options|one price a currency, at most 200"
        r"|a managed subscription has no price of 0",
        "offers": r"only a subscription has offers|at most 100, each product with different ids"
        r"|an offer's product must be one of the SKU's",
        "options": r"each option has its own number of days \(1 to 3,660\) and prices"
        r"|only a pass \(non_renewing\) has options|one price a currency, at most 200",
    }),
    (["changeSKU"], [], {
        "id": r"a SKU's id never changes", "kind": r"a SKU's kind never changes; make another SKU",
        r"localizations\..*\.name": r"is missing",
    }),
    # Rules between the members of a call about renewals, and what lies ahead.
    (["holdBilling"], [], {"reason": r"must have 1 to 500 characters|is missing"}),
    (["announcePrice"], [], {
        "prices": r"one price above 0 for each currency, at least one",
        "effective_at": r"a higher price needs a notice of \d+ days|must not lie in the past",
    }),
    (["importSubscription"], [], {
        "external_id": r"must have 1 to 255 bytes", "account": r"is no account that charges mandates",
        "sku": r"is no managed SKU", "period_end": r"must lie ahead", "period_start": r"must come before period_end",
        "price": r"cannot be charged through this account", "mandate": r"is not known to the provider",
        "user_id": r".*",
    }),
    (["cancelUserSubscription"], ["provider_rejected"], {"refund": r"is only possible with when: now"}),
    (["extendSubscription"], ["provider_rejected"], {"reason_code": r"is missing"}),
    # What lies ahead, and what goes with the SKU.
    (["createGrant", "createPartnerGrant"], [], {
        "expires_at": r"must lie ahead|only what lasts has an end|either duration_days or expires_at, not both",
        "duration_days": r"only what lasts has an end|duration_days or expires_at is needed for this SKU",
    }),
    (["moveClock"], ["request_in_progress"], {
        "advance_seconds": r"or to: exactly one of the two is needed", "to": r"must be later than now|.*5 years.*",
    }),
    (["createAPIKey"], [], {"expires_at": r"must lie ahead"}),
    # An interval, and an object whose members are all null.
    (["changeAccount"], [], {
        r"routing\.min": r"min and max must be an interval of minor units", "": r"needs enabled, routing or reset",
    }),
    (["readStats", "exportOrders"], [], {
        "from": r"must be seconds since 1970 and not after to|at most 400 days before to",
        "to": r"must be seconds since 1970",
    }),
    # A key, or the link of the start, that signs nobody in; one of two members.
    (["openConsole"], ["unauthenticated", "forbidden", "rate_limited"], {
        "key": r"is missing", "once": r"either key or once, not both",
    }),
    # The cookie alone opens it.
    (["readConsole"], ["unauthenticated"], {}),
    # A pattern must have its placeholder; files and options that a schema does not describe.
    (["previewPattern"], [], {"pattern": r"must be a product id with \$\{days\} in it"}),
    (["importCatalogue"], ["conflict"], {r".*": r".*"}),
    (["exportCatalogueForXcode"], [], {"currency": r"no storefront sells in it"}),
    # Once a minute, or 30 times; and what is not enough.
    (["examine", "refreshAnyOrder", "testWebhook"], ["rate_limited"], {}),
    (["debitUserBalance"], ["insufficient_balance"], {}),
    # A host that is not public, which the configuration may allow.
    (["createWebhook", "changeWebhook"], [], {"url": r"must name a public host"}),
    # Members that are free may hold what no database does.
    ([*SKU_WRITERS, "payByApplePay", "attachPurchase", "restorePurchases", "verifyReceipt",
      "verifyPurchase", "signOffer", "signIntroductoryOffer", "keepExternalPurchaseToken"], [], {
        "": r"(?:The request is not valid: )?(?:text must not contain U\+0000|JSON is nested more than 32 levels deep)\.?",
        "attributes": r"text must not contain U\+0000",
    }),
]


# The operations whose answers Schemathesis would read as values.
TEXTS = ["/v1/public/stream", "/v1/admin/catalog.yaml", "/v1/admin/catalog.storekit"]


def by_contract(case, response):
    """Whether a refusal is one of those that no schema can tell."""
    refusal = response.json()
    if "errors" in refusal:
        # OpenIAP's form has a sentence alone.
        first = refusal["errors"][0]
        refusal = {"error": first["code"], "message": first["message"]}
    # The older clients' shape has no details.
    details = refusal.get("details", {"field": "", "reason": refusal.get("message", "")})
    for operations, errors, fields in REFUSALS:
        if case.operation.definition.raw["operationId"] not in operations:
            continue
        if refusal["error"] in errors:
            return True
        if refusal["error"] == "invalid_request" and any(
                re.fullmatch(field, details["field"], re.S) and re.fullmatch(reason, details["reason"], re.S)
                for field, reason in fields.items()):
            return True
    return False


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """Keeps every failure but those of REFUSALS, and those that are as they shall be.

    `verifyReceipt` refuses by its `status`, with HTTP status 200; more than 100 wrong credentials a minute from one address
    are 429.
    """
    if isinstance(failure, AcceptedNegativeData) and case.operation.path == "/validate-receipt":
        return response.json()["status"] == 0
    # What these answer is no JSON: a stream, and files that are read as they are.
    if isinstance(failure, JsonSchemaError) and case.operation.path in TEXTS:
        return False
    # The forms of the first page and of the sandbox's payment pages, which the document leaves out with the pages.
    if isinstance(failure, (AllowHeaderMismatch, UnsupportedMethodResponse)) \
            and case.operation.path in ("/", "/sandbox/book"):
        return False
    if isinstance(failure, IgnoredAuth) and "got `429 " in failure.message:
        return False
    return not (isinstance(failure, RejectedPositiveData) and by_contract(case, response))


@schemathesis.check
def error_id_is_documented(ctx, response, case):
    """A refusal's id is one that the operation's response of this status lists."""
    described = case.operation.definition.raw["responses"].get(str(response.status_code), {})
    while "$ref" in described:
        place = case.operation.schema.raw_schema
        for part in described["$ref"][2:].split("/"):
            place = place[part]
        described = place
    ids = described.get("x-error-ids")
    if ids is None:
        return
    answer = response.json()
    # OpenIAP's clients get a list of errors.
    error = answer["errors"][0]["code"] if "errors" in answer else answer["error"]
    assert error in ids, f"{error} is not among {ids}"


# Things that are there


def call(method, path, bearer, body=None):
    request = urllib.request.Request(
        os.environ["URL"] + path, method=method, data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {bearer}", "Content-Type": "application/json"})
    return json.load(urllib.request.urlopen(request))["data"]


def make_things():
    """Ids by the part of the path before them."""
    user, partner, admin = (os.environ[name] for name in ("USER_TOKEN", "PARTNER_KEY", "ADMIN_KEY"))
    orders, payments = [], []
    for more in ({}, {"currency": "CNY"}, {"provider": "sandbox-qr"}):
        contract = call("POST", "/v1/public/checkout", user, {"sku": "vip_month", "platform": "web", **more})
        orders.append(contract["order_id"])
        payments.append(contract["payment_id"])
        if "currency" in more:
            urllib.request.urlopen(contract["checkout_url"], data=b"outcome=succeed").read()
    coins = {"amount": 1_000, "reason": "a test"}
    call("POST", "/v1/admin/users/schemathesis/balances/coins/credit", admin, coins)
    grant = call("POST", "/v1/admin/users/schemathesis/grants", admin, {"sku": "vip_year", "reason": "a test"})
    webhook = call("POST", "/v1/partner/webhooks", partner, {"url": "https://partner.example/paydesk"})
    key = call("POST", "/v1/admin/api-keys", admin, {"name": "a test", "scopes": ["orders:read"]})
    return {
        "orders": orders, "payments": payments, "grants": [grant["id"]], "webhooks": [webhook["id"]],
        "api-keys": [key["id"]], "skus": ["vip_month", "coins_100", "basic_days", "vip_monthly_auto"],
        "accounts": ["sandbox-url", "sandbox-qr", "apple-iap"], "users": ["schemathesis"], "usage": ["messages"],
        "balances": ["coins"],
    }


THINGS = make_things()
COUNT = itertools.count()
RUN = os.urandom(4).hex()


@schemathesis.hook
def before_call(context, case, kwargs):
    number, meta = next(COUNT), case.meta
    is_valid = meta is not None and meta.generation.mode.is_positive
    # A case that is about a header stays as it is.
    key = case.headers.get("Idempotency-Key")
    if key is not None and (is_valid or meta.phase.data.parameter_location != ParameterLocation.HEADER):
        case.headers["Idempotency-Key"] = f"{RUN}-{number}"
    # Nothing new would come while it waits.
    if is_valid and case.operation.path == "/v1/partner/events" and case.query:
        case.query.pop("wait", None)
    # What the stateful phase names it has made itself.
    if not is_valid or meta.phase.name.name == "STATEFUL":
        return
    parts = case.operation.path.split("/")
    for before, part in zip(parts, parts[1:]):
        if part.startswith("{") and before in THINGS and number % 2:
            case.path_parameters[part[1:-1]] = THINGS[before][number // 2 % len(THINGS[before])]
