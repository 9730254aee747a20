import Foundation
import TestSupport
import Testing

@testable import Domain
@testable import Store

@Suite struct StoreOffersMigrationTests {
    private static let earlier = Migrations.all.filter { $0.number < 37 }

    private static let purchase = """
        INSERT INTO purchases (environment, key, account, bundle_id, product_id, transaction_id,
            original_transaction_id, kind, purchased_at, signed_at, quantity, is_renewal, is_upgraded,
            is_family_shared, received_at, evidence)
        VALUES (?, '1', 'apple', 'app', 'ring', '1', '1', 'Non-Consumable', 1, 1, 1, 0, 0, 0, 0, ?)
        """

    @Test(
        arguments: TestEngine.allCases,
        [("Production", true, true), ("Production", false, false), ("Xcode", true, false)] as [(String, Bool, Bool)])
    func `a job names the customers of purchases whose evidence may name them`(
        _ engine: TestEngine, _ stored: (environment: String, hasEvidence: Bool, isNamed: Bool)
    ) async throws {
        try await withStore(on: engine, migrations: Self.earlier) { store in
            let evidence = stored.hasEvidence ? Data([1]) : nil
            try await store.write { tx in try tx.execute(Self.purchase, stored.environment, evidence) }
            try await Migrator.apply(Migrations.all, to: store, at: 1)
            let (hasJob, unnamed) = try await store.read { db in
                (
                    try db.jobs.hasAny("name_app_transactions"),
                    try db.appTransactions.listUnnamed(after: nil, limit: 10).map(\.key)
                )
            }
            #expect(hasJob == stored.isNamed && unnamed == (stored.isNamed ? ["1"] : []))
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an offer has one answer a form, and a withdrawn consent one row a statement`(
        _ engine: TestEngine
    ) async throws {
        try await withStore(on: engine) { store in
            let user = try #require(ID<User>("usr_00000000000000000000000001"))
            let account = try #require(AccountID("apple"))
            let place = OfferPlace(user: user, account: account, product: "app:ring", offer: "spring", format: "v2")
            try await store.write { tx in
                try tx.execute("INSERT INTO user_states (user_id, created_at) VALUES (?, 0)", user)
                try tx.offerSignatures.upsert(place, answer: Data([1]), signedAt: Timestamp(100))
                try tx.offerSignatures.upsert(place, answer: Data([2]), signedAt: Timestamp(200))
            }
            let found = try await store.read { db in
                try [Timestamp(199), Timestamp(200)].map { try db.offerSignatures.find(place, signedAfter: $0) }
            }
            #expect(found == [Data([2]), nil])
            let recorded = try await store.write { tx in
                try [1, 1, 2].map { try tx.appTransactions.rescind("704", in: .sandbox, at: $0) }
            }
            #expect(recorded == [true, false, true])
        }
    }
}
