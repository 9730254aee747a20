import Foundation
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Consent that is withdrawn")
struct RescindedConsentTests {
    private static func notice(
        _ desk: NewsFixture, _ id: String?, environment: String = "Production", receiptType: String? = nil,
        bundle: String = "com.example.app", signer: AppleTestCertificates.Signer = .store
    ) throws -> AppleNotice {
        var inner: [String: JSONValue] = [
            "bundleId": .string(bundle), "receiptType": .string(receiptType ?? environment),
            "signedDate": .integer(desk.apple.now.rawValue * 1_000),
        ]
        inner["appTransactionId"] = id.map(JSONValue.string)
        var app: [String: JSONValue] = [
            "bundleId": .string("com.example.app"), "environment": .string(environment),
            "signedAppTransactionInfo": .string(
                AppleTestCertificates.sign(try JSONEncoder().encode(inner), by: signer)),
        ]
        if environment == "Production" { app["appAppleId"] = .integer(AppleNotice.appNumber) }
        return AppleNotice("RESCIND_CONSENT", at: desk.apple.now) { $0.top = ["appData": .object(app)] }
    }

    private static func data(_ user: JSONValue, _ id: String, _ environment: String = "Production") -> JSONValue {
        .object([
            "user_id": user, "app_transaction_id": .string(id), "bundle_id": .string("com.example.app"),
            "environment": .string(environment),
        ])
    }

    @Test(arguments: TestEngine.allCases)
    func `it is told once, and takes nothing`(_ engine: TestEngine) async throws {
        try await withNews(on: engine) { desk in
            let sale = try await desk.subscribe()
            let (user, before) = (try await desk.userID(), try await desk.apple.status())
            let notice = try Self.notice(desk, "704\(sale.id)")
            for _ in 1...2 { try await desk.apple.notify(notice) }
            func told(_ subject: String) async throws -> [JSONValue] {
                let types = try await desk.apple.desk.events(subject)
                let data = try await desk.apple.desk.eventData(subject)
                return zip(types, data).filter { $0.0 == "consent.rescinded" }.map(\.1)
            }
            #expect(try await told(user) == [Self.data(.string(user), "704\(sale.id)")])
            #expect(try await desk.apple.status() == before && before.active)
            let facts = try await desk.apple.gateway.reports.explain(
                user: GatewayFixture.user("alice"), sku: nil, reader: .staff, languages: []
            ).facts
            #expect(facts.map(\.type).filter { $0 == "consent.rescinded" }.count == 1)
            // A notification that is processed again has told it already.
            let page = try await desk.apple.gateway.notifications.list(nil, cursor: nil, limit: 10)
            let stored = try #require(page.items.first)
            _ = try await desk.apple.gateway.notifications.replay(stored.id.rawValue, context: .test)
            #expect(try await told(user).count == 1)
            // The next withdrawal is another one.
            desk.apple.desk.clock.advance(seconds: 5)
            try await desk.apple.notify(try Self.notice(desk, "704\(sale.id)"))
            #expect(try await told(user).count == 2)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `of somebody who is not known, or was erased, the store's id is told`(_ engine: TestEngine) async throws {
        try await withNews(on: engine) { desk in
            try await desk.apple.notify(try Self.notice(desk, "7041", environment: "Sandbox"))
            #expect(try await desk.apple.desk.events("apptx_7041") == ["consent.rescinded"])
            #expect(try await desk.apple.desk.eventData("apptx_7041") == [Self.data(.null, "7041", "Sandbox")])
            let sale = try await desk.subscribe()
            // The other environment's customers have other ids.
            try await desk.apple.notify(try Self.notice(desk, "704\(sale.id)", environment: "Sandbox"))
            _ = try await desk.apple.gateway.users.erase(GatewayFixture.user("alice"), context: .test)
            try await desk.apple.notify(try Self.notice(desk, "704\(sale.id)"))
            #expect(
                try await desk.apple.desk.eventData("apptx_704\(sale.id)") == [
                    Self.data(.null, "704\(sale.id)", "Sandbox"), Self.data(.null, "704\(sale.id)"),
                ])
            // Without an id there is nobody to tell of.
            try await desk.apple.notify(try Self.notice(desk, nil))
            #expect(try await desk.apple.desk.count("events WHERE type = 'consent.rescinded'") == 3)
        }
    }

    @Test func `what is inside must be genuine and of the same app and environment`() async throws {
        try await withNews(on: .sqlite) { desk in
            for notice in [
                try Self.notice(desk, "7041", signer: .forger), try Self.notice(desk, "7042", receiptType: "Sandbox"),
                try Self.notice(desk, "7043", bundle: "com.example.other"),
            ] {
                await #expect(throws: (any Error).self) { try await desk.apple.notify(notice) }
            }
            #expect(try await desk.apple.desk.count("rescinded_consents") == 0)
        }
    }
}
