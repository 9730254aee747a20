import Testing

@testable import Domain

@Suite struct PurchaseIdentityTests {
    struct Told: Sendable {
        var purchase: StorePurchase
        var hasOrder = false

        func with(_ edit: (inout StorePurchase) -> Void) -> Told {
            var copy = self
            edit(&copy.purchase)
            return copy
        }

        func revoked(_ at: Int64) -> Told {
            with { $0.revocation = StorePurchase.Revocation(at: at * 1_000, reason: 1, percentage: nil) }
        }

        var ordered: Told {
            var copy = self
            copy.hasOrder = true
            return copy
        }
    }

    /// Makes a transaction; its times are seconds after 1970.
    private static func ring(
        _ id: String, _ at: Int64, signed: Int64? = nil, kind: StorePurchase.Kind = .nonConsumable,
        environment: Environment = .production, original: String = "1", product: String = "ring", ends: Int64? = nil
    ) -> Told {
        Told(
            purchase: StorePurchase(
                environment: environment, bundleID: "app", productID: product, transactionID: id,
                originalTransactionID: original, kind: kind, purchasedAt: at * 1_000,
                expiresAt: ends.map { $0 * 1_000 }, signedAt: (signed ?? at) * 1_000, quantity: 1,
                priceMilliunits: nil, currency: nil, appAccountToken: nil, isRenewal: false, isUpgraded: false,
                isFamilyShared: false, revocation: nil))
    }

    private static func period(_ id: String, _ at: Int64, line: String? = nil, ends: Int64? = nil) -> Told {
        ring(id, at, kind: .autoRenewable, ends: ends ?? at + 100).with { $0.webOrderLineItemID = line }
    }

    /// Returns a purchase whose revocation only a receipt states.
    private static func receipt(_ told: Told, revoked at: Int64, signed: Int64) -> Told {
        told.with {
            $0.revocation = StorePurchase.Revocation(at: at * 1_000, reason: nil, percentage: nil)
            $0.receiptRevocation = StorePurchase.ReceiptRevocation(at: at * 1_000, signedAt: signed * 1_000)
        }
    }

    /// Returns a purchase that was signed after a receipt had stated its revocation.
    private static func reversed(_ told: Told, revoked at: Int64, signed: Int64) -> Told {
        receipt(told, revoked: at, signed: signed).with { $0.revocation = nil }
    }

    static let stories: [(String, [Told], [[String]])] = [
        ("a restore", [ring("1", 10), ring("2", 20)], [["1", "2"]]),
        (
            "bought after the refund of the first id", [ring("1", 10).revoked(25), ring("2", 20), ring("3", 30)],
            [["1", "2"], ["3"]]
        ),
        (
            "bought after the refund of another id", [ring("1", 10), ring("2", 20).revoked(25), ring("3", 30)],
            [["1", "2"], ["3"]]
        ),
        (
            "whichever has the order", [ring("1", 10), ring("2", 20).revoked(25), ring("3", 30).ordered],
            [["1", "2"], ["3"]]
        ),
        (
            "bought and refunded twice",
            [
                ring("1", 10).revoked(25), ring("2", 20).revoked(26), ring("3", 30).revoked(40), ring("4", 35),
                ring("5", 50),
            ], [["1", "2"], ["3", "4"], ["5"]]
        ),
        ("refunded in the second in which it was bought", [ring("1", 10).revoked(10), ring("2", 10)], [["1", "2"]]),
        (
            "two that have an order each, and restores of them",
            [ring("1", 10).ordered, ring("2", 20), ring("3", 30).ordered, ring("4", 40), ring("0", 5)],
            [["0", "1", "2"], ["3", "4"]]
        ),
        ("two orders of one second", [ring("1", 10).ordered, ring("2", 10).ordered], [["1"], ["2"]]),
        (
            "a reversal after a receipt's word",
            [
                reversed(ring("1", 10, signed: 60), revoked: 25, signed: 50),
                receipt(ring("2", 20), revoked: 25, signed: 50), ring("3", 30),
            ], [["1", "2", "3"]]
        ),
        (
            "a receipt's word that is newer",
            [
                reversed(ring("1", 10, signed: 60), revoked: 25, signed: 50),
                receipt(ring("2", 20), revoked: 25, signed: 70), ring("3", 30),
            ], [["1", "2"], ["3"]]
        ),
        (
            "another id that is signed anew reverses nothing",
            [ring("1", 10, signed: 60), receipt(ring("2", 20), revoked: 25, signed: 50), ring("3", 30)],
            [["1", "2"], ["3"]]
        ),
        (
            "a reversal of one order is none of another",
            [
                reversed(ring("1", 10, signed: 60), revoked: 15, signed: 50).ordered,
                receipt(ring("2", 20), revoked: 25, signed: 50).ordered, ring("3", 30),
            ], [["1"], ["2"], ["3"]]
        ),
        (
            "periods by their line items",
            [period("1", 10, line: "a"), period("2", 15, line: "a"), period("3", 110, line: "b")], [["1", "2"], ["3"]]
        ),
        (
            "a period that is restored after its end",
            [period("1", 10, line: "a"), period("2", 110, line: "b"), period("3", 150, line: "a", ends: 110)],
            [["1", "3"], ["2"]]
        ),
        (
            "a line item that every period has", [period("1", 10, line: "a"), period("2", 110, line: "a")],
            [["1"], ["2"]]
        ),
        (
            "line items that began together", [period("1", 10, line: "a"), period("2", 10, line: "b")],
            [["1"], ["2"]]
        ),
        ("periods by their beginnings", [period("1", 10), period("2", 10), period("3", 11)], [["1", "2"], ["3"]]),
        (
            "a period of which one id names its line item",
            [period("1", 10), period("2", 10, line: "a"), period("3", 14, line: "a")], [["1", "2", "3"]]
        ),
        (
            "a beginning that only a restore of another period's has",
            [period("1", 10, line: "a"), period("2", 50, line: "b"), period("3", 60, line: "a"), period("4", 60)],
            [["1", "3", "4"], ["2"]]
        ),
        ("periods that have an order each", [period("1", 10).ordered, period("2", 10).ordered], [["1", "2"]]),
        (
            "a period that was taken back", [period("1", 10).revoked(20), period("2", 10), period("3", 30)],
            [["1", "2"], ["3"]]
        ),
        ("what is used up", [ring("1", 10, kind: .consumable), ring("2", 10, kind: .consumable)], [["1"], ["2"]]),
        ("passes", [ring("1", 10, kind: .nonRenewing), ring("2", 10, kind: .nonRenewing)], [["1"], ["2"]]),
        ("Xcode's ids", [ring("1", 10, environment: .xcode), ring("2", 10, environment: .xcode)], [["1"], ["2"]]),
        (
            "other environments, originals and products",
            [
                ring("1", 10), ring("2", 11, environment: .sandbox), ring("3", 12, original: "2"),
                ring("4", 13, product: "x"),
            ], [["1"], ["2"], ["3"], ["4"]]
        ),
    ]

    @Test(arguments: stories.indices)
    func `transactions are sorted into purchases, in whatever order they are given`(_ number: Int) {
        let (name, told, expected) = Self.stories[number]
        for order in permutations(told) {
            let groups = order.groupedByPurchase({ $0.purchase }, hasOrder: { $0.hasOrder })
            #expect(groups.map { $0.map(\.element.purchase.transactionID) } == expected, "\(name)")
        }
    }

    @Test func `an identity is of all transactions of one purchase that can be restored`() {
        let bought = Self.ring("1", 10).purchase
        #expect(PurchaseIdentity(bought) != nil)
        #expect(PurchaseIdentity(bought) == PurchaseIdentity(Self.ring("2", 20, signed: 30).revoked(25).purchase))
        let others = [
            Self.ring("1", 10, environment: .sandbox), Self.ring("1", 10, original: "2"),
            Self.ring("1", 10, product: "x"), Self.ring("1", 10, ends: 20),
        ]
        for other in others {
            #expect(
                PurchaseIdentity(other.purchase) != nil && PurchaseIdentity(other.purchase) != PurchaseIdentity(bought))
        }
        let single = [
            Self.ring("1", 10, kind: .consumable), Self.ring("1", 10, kind: .nonRenewing),
            Self.ring("1", 10, environment: .xcode),
        ]
        for other in single { #expect(PurchaseIdentity(other.purchase) == nil) }
    }

    @Test func `the newest says where a purchase stands, and any of them takes it back`() {
        let first = Self.period("1", 10, ends: 100)
        let second = Self.period("2", 12, ends: 200)
        #expect(first.purchase.joined(with: []) == first.purchase)
        let joined = first.purchase.joined(with: [second.purchase])
        #expect(joined.purchasedAt == 10_000 && joined.expiresAt == 200_000 && joined.transactionID == "1")
        #expect(second.purchase.joined(with: [first.purchase]).purchasedAt == 10_000)
        let taken = first.purchase.joined(with: [second.revoked(50).purchase, second.revoked(40).purchase])
        #expect(taken.revocation?.at == 40_000)
    }

    @Test(arguments: [(49, true), (50, false), (51, false)] as [(Int64, Bool)])
    func `a reversal of one id gives again what only a receipt took of another`(_ signed: Int64, _ isTaken: Bool) {
        let first = Self.reversed(Self.ring("1", 10, signed: signed), revoked: 25, signed: 40)
        let second = Self.receipt(Self.ring("2", 20), revoked: 25, signed: 50)
        let read = Self.ring("2", 20, signed: 50).revoked(25).with {
            $0.receipt = ReceiptDigest(sha256: [UInt8](repeating: 1, count: 32))
        }
        for told in [second, read] {
            let group = [first, told].groupedByPurchase({ $0.purchase }, hasOrder: { $0.hasOrder })[0]
            #expect(group.contains { $0.purchase.revocation != nil } == isTaken)
        }
        // Only a reversal that the store signs for the same transaction ends a revocation that it signed.
        let refunded = Self.ring("2", 20, signed: 20).revoked(25)
        let group = [first, refunded].groupedByPurchase({ $0.purchase }, hasOrder: { $0.hasOrder })[0]
        #expect(group.contains { $0.purchase.revocation != nil })
    }

    @Test func `a price is taken where there is none`() throws {
        var priced = Self.ring("2", 20).purchase
        (priced.priceMilliunits, priced.currency) = (1_990, Currency("USD"))
        #expect(Self.ring("1", 10).purchase.priced(like: priced).price == (try money("1.99 USD")))
        #expect(priced.priced(like: Self.ring("1", 10).purchase) == priced)
    }
}
