"""Buys in an App Store in a box, verifies what it signs and drives its server API by Apple's own library.

usage: appstore_box.py URL BUNDLE SUBSCRIPTION, prints one JSON object of what it found
"""
import json
import sys
import time
import uuid

import requests
from appstoreserverlibrary.api_client import APIException, AppStoreServerAPIClient, GetTransactionHistoryVersion
from appstoreserverlibrary.models.ConsumptionRequest import ConsumptionRequest
from appstoreserverlibrary.models.DeliveryStatus import DeliveryStatus
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.models.ExtendReasonCode import ExtendReasonCode
from appstoreserverlibrary.models.ExtendRenewalDateRequest import ExtendRenewalDateRequest
from appstoreserverlibrary.models.NotificationHistoryRequest import NotificationHistoryRequest
from appstoreserverlibrary.models.TransactionHistoryRequest import TransactionHistoryRequest
from appstoreserverlibrary.receipt_utility import ReceiptUtility
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier

server, bundle, product = sys.argv[1:4]
base = server + "/dev/appstore"


def post(path, body):
    reply = requests.post(base + path, json=body, timeout=30)
    reply.raise_for_status()
    return reply.json()


def error(call):
    try:
        call()
    except APIException as fault:
        return [fault.http_status_code, fault.raw_api_error]
    return None


bought = post("/purchases", {"product_id": product})
original = bought["original_transaction_id"]
post(f"/subscriptions/{original}/renew", {})
root = requests.get(base + "/root.cer", timeout=30).content
judge = SignedDataVerifier([root], False, Environment.SANDBOX, bundle)
found = {
    "transaction": judge.verify_and_decode_signed_transaction(bought["signed_transaction"]).transactionId == original,
    "renewal": judge.verify_and_decode_renewal_info(bought["signed_renewal_info"]).autoRenewProductId,
    "receipt": ReceiptUtility().extract_transaction_id_from_app_receipt(bought["receipt"]) == original,
}
state = requests.get(base + "/state", timeout=30).json()
found["notifications"] = [
    judge.verify_and_decode_notification(one["signed_payload"]).rawNotificationType for one in state["notifications"]]

key = requests.get(base + "/key.json", timeout=30).json()
pem = requests.get(base + "/key.p8", timeout=30).content


def client(key_id):
    made = AppStoreServerAPIClient(pem, key_id, key["issuer_id"], key["bundle_id"], Environment.SANDBOX)
    made._base_url = base
    return made


api = client(key["key_id"])
info = api.get_transaction_info(original)
found["info"] = judge.verify_and_decode_signed_transaction(info.signedTransactionInfo).transactionId == original
history = api.get_transaction_history(original, None, TransactionHistoryRequest(), GetTransactionHistoryVersion.V2)
found["history"] = [len(history.signedTransactions), history.hasMore, history.bundleId == bundle]
last = api.get_all_subscription_statuses(original).data[0].lastTransactions[0]
found["status"] = last.rawStatus
end = judge.verify_and_decode_signed_transaction(last.signedTransactionInfo).expiresDate
extended = api.extend_subscription_renewal_date(original, ExtendRenewalDateRequest(
    extendByDays=5, extendReasonCode=ExtendReasonCode.CUSTOMER_SATISFACTION, requestIdentifier=str(uuid.uuid4())))
found["extended"] = [extended.success, extended.effectiveDate - end]
api.send_consumption_information(original, ConsumptionRequest(
    customerConsented=True, sampleContentProvided=False, deliveryStatus=DeliveryStatus.DELIVERED))
token = api.request_test_notification().testNotificationToken
sent = api.get_test_notification_status(token)
found["test"] = [one.rawSendAttemptResult for one in sent.sendAttempts]
now = int(time.time() * 1000)
past = api.get_notification_history(None, NotificationHistoryRequest(startDate=now - 3_600_000, endDate=now + 3_600_000))
found["past"] = [
    judge.verify_and_decode_notification(one.signedPayload).rawNotificationType for one in past.notificationHistory]
found["refunds"] = len(api.get_refund_history(original, None).signedTransactions)
found["unknown"] = error(lambda: api.get_transaction_info("900000000000000000"))
found["stranger"] = error(lambda: client("OTHER").get_transaction_info(original))
post("/limits", {"per_second": 1})
found["limited"] = [error(lambda: api.get_transaction_info(original)) for _ in range(5)][-1]
print(json.dumps(found))
