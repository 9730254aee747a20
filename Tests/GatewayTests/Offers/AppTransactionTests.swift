import Foundation
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("The store's customers of purchases")
struct AppTransactionTests {
    private static func named(_ desk: NewsFixture) async throws -> [String?] {
        try await desk.apple.store.read { db in
            try db.rows("SELECT app_transaction_id FROM purchases ORDER BY purchased_at, key").map {
                try $0.optionalText("app_transaction_id")
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a transaction names its customer, and a renewal the customer of those before`(
        _ engine: TestEngine
    ) async throws {
        try await withNews(on: engine) { desk in
            let sale = try await desk.subscribe()
            #expect(try await Self.named(desk) == ["704\(sale.id)"])
            // A later version without the id leaves it.
            try await desk.apple.attach(sale.signedAgain(after: 60) { $0.more = [:] })
            #expect(try await Self.named(desk) == ["704\(sale.id)"])
            let other = try await desk.subscribe(NewsFixture.plus) { $0.more = [:] }
            let renewal = AppleRenewal(other) { $0.more = ["appTransactionId": .string("7049")] }
            try await desk.apple.notify(AppleNotice("DID_RENEW", nil, other, renewal, at: desk.apple.now))
            #expect(Set(try await Self.named(desk)) == ["704\(sale.id)", "7049"])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a job reads it from the evidence of earlier releases`(_ engine: TestEngine) async throws {
        try await withNews(on: engine) { desk in
            let attached = try await desk.subscribe(days: 3)
            let told = desk.apple.sale(NewsFixture.plus, AppleSale.subscription) {
                $0.expires = $0.purchased + 86_400_000
                $0.more["appTransactionId"] = .string("7042")
            }
            try await desk.apple.notify(AppleNotice("SUBSCRIBED", "INITIAL_BUY", told, at: desk.apple.now))
            try await desk.subscribe(NewsFixture.plus, days: 2) { $0.more = [:] }
            try await desk.apple.store.write { tx in
                try tx.execute("UPDATE purchases SET app_transaction_id = NULL")
                try tx.jobs.enqueue(
                    desk.apple.gateway.ids.make(), kind: JobKind.nameAppTransactions.rawValue, subject: "", delay: 0,
                    at: desk.apple.now)
            }
            try await desk.apple.work()
            #expect(try await Self.named(desk) == ["704\(attached.id)", nil, "7042"])
            #expect(try await !desk.apple.store.read { db in try db.jobs.hasAny("name_app_transactions") })
        }
    }
}
