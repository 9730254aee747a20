import Domain
import Foundation
import Gateway
import ProviderKit
import Store
import TestSupport
import Testing

@Suite("Receipts: what the App Store says besides")
struct ReceiptConfirmationTests {
    private static func withStore(
        on engine: TestEngine, _ edit: (inout AppStoreGatewayFixtureSetup) -> Void = { _ in },
        _ body: (AppStoreGatewayFixture, FakeAppStore) async throws -> Void
    ) async throws {
        let store = FakeAppStore()
        try await withReceiptDesk(
            on: engine,
            {
                $0.appStore = store
                edit(&$0)
            }
        ) { try await body($0, store) }
    }

    @Test(arguments: TestEngine.allCases)
    func `the API wins over the receipt`(_ engine: TestEngine) async throws {
        try await Self.withStore(on: engine) { (apple, store) async throws in
            let old = apple.period("first", from: -40) { $0.id = "first" }
            let new = apple.period("first", from: -10) {
                $0.isRenewal = true
                ($0.price, $0.currency) = (29_900, "CNY")
            }
            let gems = apple.sale("com.example.gems", AppleSale.consumable)
            store.add(old)
            store.add(new, AppleRenewal(new) { $0.willRenew = false })
            store.add(gems.signedAgain(after: 9) { $0.revoked = $0.signed })
            let receipt = apple.receipt(old, gems)
            let report = try #require(try await apple.report(receipt))
            #expect(report.source == .appStore && !report.isStale)
            #expect(report.rows.map(\.purchase.transactionID).contains(new.id))
            #expect(report.renewals.map(\.willRenew) == [false])
            #expect(report.rows.first { $0.purchase.transactionID == gems.id }?.purchase.revocation != nil)
            let status = try await apple.status()
            #expect(status.active && !status.will_renew)
            #expect(status.expires_at == new.purchasedAt.adding(days: 30).rawValue)
            #expect(try await apple.desk.snapshot().balances == ["gems": 0])
            // Only the newest period of each subscription, and everything that is none.
            let newest = try #require(try await apple.report(receipt, newestOnly: true))
            #expect(Set(newest.rows.map(\.purchase.transactionID)) == [new.id, gems.id])
            // What the App Store has signed itself needs no receipt; the older period still does.
            #expect(try await apple.desk.count("purchases WHERE receipt IS NOT NULL") == 1)
            #expect(try await apple.desk.count("jobs WHERE kind = 'check_receipt'") == 0)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an old purchase whose answer names no app is the receipt's app's`(_ engine: TestEngine) async throws {
        try await Self.withStore(on: engine) { (apple, store) async throws in
            let ring = apple.sale("com.example.ring", AppleSale.nonConsumable)
            store.add(ring.signedAgain(after: 9) { ($0.bundle, $0.price, $0.currency) = (nil, 1_990, "USD") })
            let verified = try await apple.verify(apple.receipt(ring), ring.id)
            #expect(verified.source == .appStore && !verified.isStale)
            #expect(try await apple.order(verified.attached).order.charged?.value == 199)
            #expect(try await apple.record(ring)?.purchase.bundleID == "com.example.app")
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a receipt that holds a restored purchase tells of one order`(_ engine: TestEngine) async throws {
        try await withReceiptDesk(on: engine) { (apple) async throws in
            let ring = apple.sale("com.example.ring", AppleSale.nonConsumable)
            let again = ring.with {
                ($0.id, $0.original) = ("\(ring.id)1", ring.id)
                $0.purchased += 3_600_000
            }
            let month = apple.period("sub", from: 0) { ($0.id, $0.line) = ("sub", "7") }
            let copy = month.with { $0.id = "sub-again" }
            apple.desk.clock.advance(seconds: 3_601)
            let receipt = apple.receipt(again, copy, ring, month)
            let report = try #require(try await apple.report(receipt))
            #expect(Set(report.rows.map(\.purchase.transactionID)) == [ring.id, again.id, "sub", "sub-again"])
            #expect(try await apple.desk.count("orders") == 2)
            #expect(try await apple.verify(receipt, again.id).attached.active)
            #expect(try await apple.attach(ring.signedAgain(after: 9)).active)
            let refunded = apple.receipt(again.with { $0.revoked = ring.purchased + 7_200_000 }) {
                $0.created += 8_000_000
            }
            #expect(try await apple.refusal(of: refunded.base64, again.id) == .purchaseRevoked)
            #expect(try await apple.refusal(ring) == .purchaseRevoked)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an entry tells what was said of its purchase under another id`(_ engine: TestEngine) async throws {
        try await withReceiptDesk(on: engine) { (apple) async throws in
            let month = apple.period("1000", from: 0) { ($0.id, $0.line) = ("1000", "7") }
            let copy = month.with { $0.id = "1000-again" }
            let receipt = apple.receipt(month, copy)
            try await apple.verify(receipt, month.id)
            let extended = copy.signedAgain(after: 60) { $0.expires = $0.purchased + 40 * 86_400_000 }
            try await apple.notify(AppleNotice("RENEWAL_EXTENDED", nil, extended, at: apple.now))
            for newestOnly in [true, false] {
                let rows = try #require(try await apple.report(receipt, newestOnly: newestOnly)).rows
                #expect(rows.count == (newestOnly ? 1 : 2))
                #expect(rows.allSatisfy { $0.purchase.expiresAt == extended.expires })
            }
            let refund = copy.signedAgain(after: 90) { $0.revoked = $0.signed }
            try await apple.notify(AppleNotice("REFUND", nil, refund, at: apple.now))
            let rows = try #require(try await apple.report(receipt)).rows
            #expect(rows.allSatisfy { $0.purchase.revocation?.at == refund.revoked })
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `what is not answered now is stale and asked again`(_ engine: TestEngine) async throws {
        try await Self.withStore(on: engine) { (apple, store) async throws in
            let sale = apple.period("first", from: 0) { $0.id = "first" }
            let troubles: [(FakeAppStore) -> Void] = [
                { $0.script(.failure(.outcomeUnknown)) }, { $0.script("{}", status: 500) },
                { $0.script(#"{"errorCode":4290000}"#, status: 429) }, { $0.script("garbage") },
                { $0.knowsNothing = true },
            ]
            let receipt = apple.receipt(sale)
            for trouble in troubles {
                trouble(store)
                let verified = try await apple.verify(receipt, sale.id)
                #expect(verified.isStale && verified.source == .receipt && verified.attached.active)
                #expect(try await apple.desk.count("jobs WHERE kind = 'check_receipt'") == 1)
            }
            try await apple.desk.pass(seconds: 60)
            try await apple.work()
            #expect(try await apple.desk.count("jobs WHERE kind = 'check_receipt'") == 1)
            store.knowsNothing = false
            store.add(sale.signedAgain(after: 1) { ($0.price, $0.currency) = (29_900, "CNY") }, AppleRenewal(sale))
            try await apple.desk.pass(seconds: 3_600)
            try await apple.work()
            #expect(try await apple.desk.count("jobs WHERE kind = 'check_receipt'") == 0)
            let verified = try await apple.verify(receipt, sale.id)
            #expect(!verified.isStale && verified.source == .appStore)
            #expect(try await apple.order(verified.attached).order.charged?.value == 2_990)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `whose a purchase is is the App Store's word, not the receipt's`(_ engine: TestEngine) async throws {
        try await Self.withStore(on: engine) { (apple, store) async throws in
            let token = try await apple.token("alice")
            let gems = apple.sale("com.example.gems", AppleSale.consumable)
            store.add(gems.with { $0.token = token })
            let receipt = apple.receipt(gems)
            // Bob uses the same device.
            let report = try #require(try await apple.report(receipt, user: "bob"))
            #expect(report.rows.count == 1 && report.source == .appStore && report.attachment?.attached == 0)
            #expect(try await apple.refusal(of: receipt.base64, gems.id, user: "bob") == .purchaseBelongsToAnotherUser)
            #expect(try await apple.verify(receipt, gems.id).attached.credited == ["gems": 10])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a refund that only a receipt tells is not undone by an older transaction`(_ engine: TestEngine) async throws {
        try await withReceiptDesk(on: engine) { (apple) async throws in
            let ring = apple.sale("com.example.ring", AppleSale.nonConsumable)
            try await apple.attach(ring)
            try await apple.desk.pass(seconds: 600)
            let refunded = apple.receipt(ring.with { $0.revoked = $0.purchased + 300_000 })
            #expect(try await apple.refusal(of: refunded.base64, ring.id) == .purchaseRevoked)
            #expect(try await apple.refusal(ring) == .purchaseRevoked)
            #expect(try await apple.grants().allSatisfy { $0.revocation != nil })
            // What was signed since says that it stands.
            try await apple.attach(ring.signedAgain(after: 900))
            #expect(try await apple.grants().allSatisfy { $0.revocation == nil })
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `what Apple never knows is not asked about for ever`(_ engine: TestEngine) async throws {
        try await Self.withStore(on: engine) { (apple, store) async throws in
            store.knowsNothing = true
            let sale = apple.period("first", from: 0) { $0.id = "first" }
            try await apple.verify(apple.receipt(sale), sale.id)
            for _ in 0..<10 {
                try await apple.desk.pass(seconds: 86_400)
                try await apple.work()
            }
            #expect(try await apple.desk.count("jobs WHERE kind = 'check_receipt'") == 0)
            #expect(try await apple.order(apple.verify(apple.receipt(sale), sale.id).attached).status == .paid)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a renewal of what the receipt holds is taken when the API confirms it`(_ engine: TestEngine) async throws {
        try await Self.withStore(on: engine) { (apple, store) async throws in
            let old = apple.period("first", from: -40) { $0.id = "first" }
            let new = apple.period("first", from: -10) { $0.isRenewal = true }
            let foreign = apple.period("another", from: -10) { $0.id = "another" }
            for sale in [old, new, foreign] { store.add(sale) }
            let receipt = apple.receipt(old)
            #expect(
                try await apple.refusal(of: receipt.base64, foreign.id)
                    == .invalidReceipt("transaction_not_in_receipt"))
            #expect(try await apple.record(foreign) == nil)
            let verified = try await apple.verify(receipt, new.id)
            #expect(verified.attached.transaction_id == new.id && verified.source == .appStore)
            store.script("{}", status: 500)
            #expect(try await apple.refusal(of: receipt.base64, "1234") == .providerUnavailable)
            #expect(
                try await apple.refusal(of: receipt.base64, "1234") == .invalidReceipt("transaction_not_in_receipt"))
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `without a user purchases are kept unclaimed until somebody claims them`(_ engine: TestEngine) async throws {
        try await Self.withStore(on: engine) { (apple, store) async throws in
            let sale = apple.period("first", from: 0) { $0.id = "first" }
            let unknown = apple.sale("com.example.nobody.sells")
            store.add(sale, AppleRenewal(sale))
            let receipt = apple.receipt(sale, unknown)
            // What Apple does not know yet leaves the rest as Apple says.
            #expect(try await apple.report(receipt, user: nil)?.isStale == true)
            #expect(try await apple.record(sale)?.purchase.receipt == nil)
            store.add(unknown)
            let report = try #require(try await apple.report(receipt, user: nil))
            #expect(report.rows.count == 2 && report.source == .appStore)
            #expect(try await apple.record(sale)?.user == nil)
            #expect(try await apple.desk.count("orders") == 0)
            try await apple.verify(receipt, sale.id)
            #expect(try await apple.status().active)
            #expect(try await apple.subscriptions().count == 1)
            #expect(try await apple.refusal(of: receipt.base64, unknown.id) == .unknownProduct(unknown.product))
            #expect(try await apple.record(unknown)?.user != nil)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a password is needed where no user asks, and it is its app's`(_ engine: TestEngine) async throws {
        try await withReceiptDesk(on: engine) { (apple) async throws in
            let receipt = apple.receipt(apple.sale())
            let other = apple.receipt(apple.sale()) { $0.bundle = "com.example.other" }
            for password in [nil, "", "wrong", ReceiptFixture.secret.uppercased()] {
                await #expect(throws: GatewayError.unauthenticated) {
                    try await apple.gateway.receipts.validate(
                        receipt.base64, password: password, newestOnly: false, user: nil, context: .test)
                }
            }
            await #expect(throws: GatewayError.invalidReceipt("wrong_app")) { try await apple.report(other, user: nil) }
            #expect(try await apple.desk.count("purchases") == 0)
            #expect(try await apple.report(receipt, user: nil)?.rows.count == 1)
        }
        try await withReceiptDesk(on: engine, { $0.sharedSecret = nil }) { (apple) async throws in
            for password in [nil, "", "anything"] {
                await #expect(throws: GatewayError.unauthenticated) {
                    try await apple.gateway.receipts.validate(
                        apple.receipt(apple.sale()).base64, password: password, newestOnly: false, user: nil,
                        context: .test)
                }
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a receipt of another environment says which it is`(_ engine: TestEngine) async throws {
        for (accepted, type, status) in [
            ("Production", "ProductionSandbox", 21_007), ("Production", "Xcode", 21_007),
            ("Sandbox", "Production", 21_008), ("Sandbox", "ProductionVPP", 21_008),
        ] as [(String, String, Int64)] {
            try await withReceiptDesk(on: engine, { $0.environments = [accepted] }) { (apple) async throws in
                let receipt = apple.receipt(apple.sale()) { $0.type = type }
                let answered = try await apple.status(of: receipt)
                #expect(answered == status, "\(accepted) \(type)")
                let kept = try await apple.desk.count("purchases")
                #expect(kept == 0)
            }
        }
    }
}
