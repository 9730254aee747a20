import AppleTrust
import Crypto
import Domain
import Encodings
import Foundation
import Testing

@testable import AppStoreBox

/// Apple's server API over rows in memory.
struct ServerAPITests {
    private static let original = BoxRows.transaction.transactionID
    private static let info = "/inApps/v1/transactions/\(original)"

    @Test func pathsAreTold() {
        #expect(ServerAPIRequest.isServerAPI("/verifyReceipt") && ServerAPIRequest.isServerAPI(Self.info))
        #expect(!ServerAPIRequest.isServerAPI("/purchases") && !ServerAPIRequest.isServerAPI("/root.cer"))
    }

    @Test(arguments: [
        ("kid", "OTHER"), ("iss", "someone"), ("bid", "com.example.other"), ("aud", "appstoreconnect-v2"),
        ("exp", "late"), ("exp", "past"), ("exp", "late without iat"), ("iat", "ahead"), ("alg", "none"),
        ("key", "another"), ("aud", "missing"),
        ("scheme", "Basic"),
    ])
    func bearersThatAreRefused(_ part: String, _ value: String) async throws {
        let desk = try ServerAPIFixture()
        let authorization = try desk.bearer { token in
            switch (part, value) {
            case ("kid", _): token.header["kid"] = .string(value)
            case ("alg", _): token.header["alg"] = .string(value)
            case ("exp", "late"): token.claims["exp"] = .integer(ServerAPIFixture.now + 3_601)
            case ("exp", "past"): token.claims["exp"] = .integer(ServerAPIFixture.now)
            case ("exp", "late without iat"):
                token.claims["iat"] = nil
                token.claims["exp"] = .integer(ServerAPIFixture.now + 3_661)
            case ("iat", _): token.claims["iat"] = .integer(ServerAPIFixture.now + 61)
            case ("key", _): token.key = P256.Signing.PrivateKey()
            case (_, "missing"): token.claims[part] = nil
            case ("scheme", _): token.scheme = value
            default: token.claims[part] = .string(value)
            }
        }
        let reply = try await desk.api.answer(
            ServerAPIRequest(method: "GET", path: Self.info, authorization: authorization))
        #expect(reply.status == 401)
        #expect(try await desk.ask("GET", Self.info).status == 200)
    }

    @Test func tokenWithoutTheTimeOfItsIssue() async throws {
        let desk = try ServerAPIFixture()
        let authorization = try desk.bearer { $0.claims["iat"] = nil }
        let reply = try await desk.api.answer(
            ServerAPIRequest(method: "GET", path: Self.info, authorization: authorization))
        #expect(reply.status == 200)
    }

    @Test func withoutBearer() async throws {
        let reply = try await ServerAPIFixture().api.answer(ServerAPIRequest(method: "GET", path: Self.info))
        #expect(reply.status == 401)
    }

    @Test(arguments: [
        ("GET", "/inApps/v1/transactions/abc", "", 4_000_006), ("GET", "/inApps/v1/transactions/900", "", 4_040_010),
        ("GET", "/inApps/v2/history/900", "", 4_040_010),
        ("GET", "/inApps/v2/history/\(original)?revision=x", "", 4_000_005),
        ("GET", "/inApps/v2/history/\(original)?sort=UP", "", 4_000_021),
        ("GET", "/inApps/v2/history/\(original)?productType=CAR", "", 4_000_022),
        ("GET", "/inApps/v2/history/\(original)?startDate=5&endDate=5", "", 4_000_013),
        ("GET", "/inApps/v2/history/\(original)?revoked=perhaps", "", 4_000_030),
        ("GET", "/inApps/v1/subscriptions/\(original)?status=9", "", 4_000_031),
        ("PUT", "/inApps/v1/subscriptions/extend/900", "{}", 4_040_005),
        ("PUT", "/inApps/v1/subscriptions/extend/\(original)", "[]", 4_000_000),
        ("PUT", "/inApps/v1/subscriptions/extend/\(original)", #"{"extendByDays":91}"#, 4_000_009),
        ("PUT", "/inApps/v1/subscriptions/extend/\(original)", #"{"extendByDays":9,"extendReasonCode":4}"#, 4_000_010),
        ("PUT", "/inApps/v1/subscriptions/extend/\(original)", #"{"extendByDays":9,"extendReasonCode":1}"#, 4_000_011),
        ("PUT", "/inApps/v2/transactions/consumption/\(original)", "{}", 4_000_035),
        (
            "PUT", "/inApps/v2/transactions/consumption/\(original)",
            #"{"customerConsented":true,"deliveryStatus":"LOST"}"#, 4_000_036
        ),
        ("GET", "/inApps/v1/notifications/test/none", "", 4_000_020),
        ("POST", "/inApps/v1/notifications/history", "{}", 4_000_015),
        ("POST", "/inApps/v1/notifications/history", #"{"startDate":1,"endDate":2}"#, 4_000_012),
    ])
    func errors(_ method: String, _ path: String, _ body: String, _ code: Int) async throws {
        let reply = try await ServerAPIFixture().ask(method, path, body)
        #expect(reply.status == code / 10_000)
        #expect(try reply.object["errorCode"] == .integer(Int64(code)))
        #expect(reply.headers["Content-Type"] == "application/json")
    }

    @Test func pathsAndMethodsThatAreNone() async throws {
        let desk = try ServerAPIFixture()
        #expect(try await desk.ask("GET", "/inApps/v9/transactions/\(Self.original)").status == 404)
        let other = try await desk.ask("POST", Self.info)
        #expect(other.status == 405 && other.headers["Allow"] == "GET")
    }

    @Test func aTransaction() async throws {
        let desk = try ServerAPIFixture()
        let jws = try await desk.ask("GET", Self.info).text("signedTransactionInfo")
        #expect(try desk.verifier.transaction(jws).transactionID == Self.original)
    }

    @Test func aHistoryOfPages() async throws {
        let desk = try ServerAPIFixture(more: 44)
        var (ids, revision, pages) = ([String](), "", 0)
        while true {
            let query = revision.isEmpty ? "" : "?revision=\(revision)"
            let reply = try await desk.ask("GET", "/inApps/v2/history/\(Self.original)\(query)")
            ids += try reply.texts("signedTransactions").map { try desk.verifier.transaction($0).transactionID }
            (revision, pages) = (try reply.text("revision"), pages + 1)
            #expect(try reply.text("bundleId") == "com.example.app" && reply.text("environment") == "Sandbox")
            guard try reply.object["hasMore"] == .bool(true) else { break }
        }
        #expect(ids.count == 46 && Set(ids).count == 46 && pages == 3 && ids == ids.sorted())
        let later = try await desk.ask("GET", "/inApps/v2/history/\(Self.original)?revision=\(revision)")
        #expect(try later.texts("signedTransactions").isEmpty && later.text("revision") == revision)
        let newest = try await desk.ask("GET", "/inApps/v2/history/\(Self.original)?sort=DESCENDING")
        #expect(
            try newest.texts("signedTransactions").map { try desk.verifier.transaction($0).transactionID }
                == Array(ids.reversed().prefix(20)))
        let subscriptions = try await desk.ask(
            "GET", "/inApps/v2/history/\(Self.original)?productType=AUTO_RENEWABLE")
        #expect(try subscriptions.texts("signedTransactions").count == 1)
    }

    @Test func statuses() async throws {
        let desk = try ServerAPIFixture()
        let reply = try await desk.ask("GET", "/inApps/v1/subscriptions/\(Self.original)")
        guard case .array(let groups) = try reply.object["data"], case .object(let group)? = groups.first,
            case .array(let last) = group["lastTransactions"], case .object(let one)? = last.first
        else { throw Unexpected() }
        #expect(groups.count == 1 && last.count == 1 && one["status"] == .integer(1))
        #expect(one["originalTransactionId"] == .string(Self.original))
        let none = try await desk.ask("GET", "/inApps/v1/subscriptions/\(Self.original)?status=2")
        #expect(try none.object["data"] == .array([]))
    }

    @Test func anOrder() async throws {
        let desk = try ServerAPIFixture()
        let reply = try await desk.ask("GET", "/inApps/v1/lookup/\(BoxRows.coins.orderID)")
        #expect(try reply.object["status"] == .integer(0))
        #expect(try desk.verifier.transaction(reply.texts("signedTransactions")[0]).productID == "coins")
        for unknown in ["MNOPE", "none", "M"] {
            #expect(try await desk.ask("GET", "/inApps/v1/lookup/\(unknown)").object == ["status": .integer(1)])
        }
    }

    @Test func anExtension() async throws {
        let path = "/inApps/v1/subscriptions/extend/\(Self.original)"
        let body = #"{"extendByDays":5,"extendReasonCode":1,"requestIdentifier":"r1"}"#
        let desk = try ServerAPIFixture()
        let reply = try await desk.ask("PUT", path, body)
        #expect(try reply.object["success"] == .bool(true) && reply.text("originalTransactionId") == Self.original)
        #expect(try reply.object["effectiveDate"] == .integer(BoxRows.start + 1_000_000 + 5 * 86_400_000))
        let twice = try ServerAPIFixture(extensions: 2)
        #expect(try await twice.ask("PUT", path, body).object["errorCode"] == .integer(4_030_005))
        let expired = try ServerAPIFixture { $0.state = .expired }
        #expect(try await expired.ask("PUT", path, body).object["errorCode"] == .integer(4_030_004))
        let coins = "/inApps/v1/subscriptions/extend/\(BoxRows.coins.transactionID)"
        #expect(try await desk.ask("PUT", coins, body).object["errorCode"] == .integer(4_030_004))
    }

    @Test func consumptionIsAccepted() async throws {
        let reply = try await ServerAPIFixture().ask(
            "PUT", "/inApps/v2/transactions/consumption/\(BoxRows.coins.transactionID)",
            #"{"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":false,"consumptionPercentage":50000}"#
        )
        #expect(reply.status == 202 && reply.body.isEmpty)
    }

    @Test func notifications() async throws {
        let desk = try ServerAPIFixture(extensions: 30)
        let token = try await desk.ask("POST", "/inApps/v1/notifications/test").text("testNotificationToken")
        let status = try await desk.ask("GET", "/inApps/v1/notifications/test/\(token)")
        #expect(try desk.verifier.notification(status.text("signedPayload")).type.rawValue == "TEST")
        let unknown = try await desk.ask("GET", "/inApps/v1/notifications/test/\(token)0")
        #expect(try unknown.object["errorCode"] == .integer(4_040_008))
        let span = #""startDate":\#(BoxRows.start - 1),"endDate":\#(BoxRows.start + 9_000)"#
        let path = "/inApps/v1/notifications/history"
        let first = try await desk.ask("POST", path, "{\(span)}")
        #expect(try first.items("notificationHistory") == 20 && first.object["hasMore"] == .bool(true))
        let second = try await desk.ask(
            "POST", "\(path)?paginationToken=\(first.text("paginationToken"))", "{\(span)}")
        #expect(try second.items("notificationHistory") == 12 && second.object["hasMore"] == .bool(false))
        let failed = try await desk.ask("POST", path, #"{\#(span),"onlyFailures":true}"#)
        #expect(try failed.items("notificationHistory") == 2)
        let tests = try await desk.ask("POST", path, #"{\#(span),"notificationType":"TEST"}"#)
        #expect(try tests.items("notificationHistory") == 1)
        let both = try await desk.ask("POST", path, #"{\#(span),"notificationType":"TEST","transactionId":"1"}"#)
        #expect(try both.object["errorCode"] == .integer(4_000_019))
    }

    @Test func theRateLimit() async throws {
        let desk = try ServerAPIFixture(perSecond: 2)
        for _ in 0..<2 { #expect(try await desk.ask("GET", Self.info).status == 200) }
        let over = try await desk.ask("GET", Self.info)
        #expect(try over.status == 429 && over.object["errorCode"] == .integer(4_290_000))
        #expect(over.headers["Retry-After"] == String(ServerAPIFixture.now * 1_000 + 500))
    }

    @Test func receipts() async throws {
        let desk = try ServerAPIFixture()
        let receipt = try ReceiptSigner(desk.authority, app: BoxRows.app).receipt(
            of: [BoxRows.transaction, BoxRows.coins], at: BoxRows.start)
        let reply = try await desk.verify(#"{"receipt-data":"\#(receipt)","password":"x"}"#)
        #expect(try reply.object["status"] == .integer(0) && reply.text("environment") == "Sandbox")
        #expect(try reply.items("latest_receipt_info") == 2 && reply.items("pending_renewal_info") == 1)
        #expect(try desk.verifier.receipt(reply.text("latest_receipt")).purchases.count == 2)
        let stranger = try ReceiptSigner(try AuthorityTests.authority(2), app: BoxRows.app).receipt(
            of: [BoxRows.transaction], at: BoxRows.start)
        let lost = try ReceiptSigner(desk.authority, app: BoxRows.app).receipt(
            of: [BoxRows.transaction(900_000_000_000_000_777, "pro", .subscription)], at: BoxRows.start)
        for (data, status) in [("bm9wZQ==", 21_002), (stranger, 21_003), (lost, 21_010)] {
            let refused = try await desk.verify(#"{"receipt-data":"\#(data)"}"#)
            #expect(try refused.status == 200 && refused.object["status"] == .integer(Int64(status)))
        }
        #expect(try await desk.verify("{}").object["status"] == .integer(21_002))
        #expect(try await desk.verify("{}", "GET").object["status"] == .integer(21_000))
    }
}

struct Unexpected: Error {}
