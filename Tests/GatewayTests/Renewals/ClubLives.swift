import ProviderKit
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

/// A life of a managed subscription, with acts of every kind.
struct ClubLife: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let trial: Int64
    let play: @Sendable (Club) async throws -> Void

    init(_ name: String, trial: Int64 = 0, _ play: @escaping @Sendable (Club) async throws -> Void) {
        testDescription = name
        self.trial = trial
        self.play = play
    }

    static let all = ofPayers + ofCards + ofMoney + ofOperators

    private static let ofPayers = [
        ClubLife("renewed and cancelled") { club in
            let held = try await club.pass(try await club.begin())
            _ = try await club.acts.cancel(held.id.rawValue, by: club.alice, context: .test)
            _ = try await club.acts.resume(held.id.rawValue, by: club.alice, context: .test)
            _ = try await club.acts.cancel(held.id.rawValue, by: club.alice, context: .test)
            #expect(try await club.pass(held).renewal.end_reason == "canceled")
        },
        ClubLife("a trial", trial: 7) { club in
            let held = try await club.begin()
            #expect(held.renewal.trial)
            #expect(try await club.pass(held).renewal.period_index == 1)
        },
        ClubLife("a trial whose card had one, and one that nobody completes", trial: 7) { club in
            _ = try await club.begin("alice", ["instrument": "card"])
            try await club.play(try await club.desk.checkout("club", user: "bob"), ["instrument": "card"])
            _ = try await club.desk.checkout("club", user: "carol")
            try await club.advance(2 * Club.day)
            #expect(try await club.list("bob").isEmpty)
        },
        ClubLife("another plan") { club in
            let held = try await club.begin()
            let id = held.id.rawValue
            for sku in ["club_year", "club", "club_year"] {
                _ = try await club.acts.change(id, to: sku, by: club.alice, context: .test)
            }
            let year = try await club.pass(held)
            #expect(year.sku == "club_year" && year.renewal.period_index == 1)
            _ = try await club.acts.change(id, to: "club", by: club.alice, context: .test)
        },
        ClubLife("two checkouts that are both paid") { club in
            let first = try await club.desk.checkout("club")
            let second = try await club.desk.checkout("club")
            try await club.play(first)
            try await club.play(second)
            try await club.advance(120)
            #expect(try await club.list().count == 1)
        },
        ClubLife("a payer who is erased, with a checkout that waits") { club in
            _ = try await club.desk.checkout("club")
            _ = try await club.begin()
            _ = try await club.gateway.users.erase(GatewayFixture.user("alice"), context: .test)
            try await club.advance(Club.day)
        },
        ClubLife("a payer who is erased before anything was paid") { club in
            _ = try await club.desk.checkout("club")
            _ = try await club.gateway.users.erase(GatewayFixture.user("alice"), context: .test)
            try await club.advance(Club.day)
        },
    ]

    private static let ofCards = [
        ClubLife("refused, and paid within its grace") { club in
            let held = try await club.begin()
            try await club.play(held.id, "soft")
            #expect(try await club.pass(held).status == .inGracePeriod)
            try await club.play(held.id, "succeed")
            try await club.advance(2 * Club.day)
            #expect(try await club.find(held.id).renewal.period_start == held.expires_at)
        },
        ClubLife("refused, and paid after an interruption") { club in
            let held = try await club.begin()
            try await club.play(held.id, "soft")
            try await club.advance(to: held.expires_at.adding(days: 4))
            try await club.play(held.id, "succeed")
            try await club.advance(2 * Club.day)
            #expect(try await club.find(held.id).renewal.period_start != held.expires_at)
        },
        ClubLife("refused to its end") { club in
            let held = try await club.begin()
            try await club.play(held.id, "soft")
            try await club.advance(to: held.expires_at.adding(days: 9))
            #expect(try await club.find(held.id).renewal.end_reason == "payment_failed")
        },
        ClubLife("a lost card, and another one") { club in
            let held = try await club.begin()
            try await club.play(held.id, "hard")
            _ = try await club.pass(held)
            try await club.play(try await club.otherMethod(held.id), ["renewals": "succeed"])
            try await club.advance(120)
            #expect(try await club.find(held.id).renewal.period_index == 1)
        },
        ClubLife("another card that its payer never gives") { club in
            let held = try await club.begin()
            _ = try await club.otherMethod(held.id)
            #expect(try await club.pass(held).renewal.period_index == 1)
        },
        ClubLife("a card that the payer detaches") { club in
            let held = try await club.begin()
            try await club.gateway.payPages.playOn(
                kind: "sandbox", subscription: held.id.rawValue, form: ["ended": "1"])
            try await club.advance(120)
            try await club.advance(to: held.expires_at.adding(days: 9))
            #expect(try await club.find(held.id).renewal.end_reason == "payment_failed")
        },
        ClubLife("charges whose outcomes are not known, and one that is cancelled meanwhile") { club in
            let held = try await club.begin("alice", ["renewals": "pending"])
            _ = try await club.pass(held)
            _ = try await club.acts.cancel(held.id.rawValue, by: club.alice, context: .test)
            try await club.play(held.id, "succeed")
            try await club.advance(2 * Club.day)
        },
    ]

    private static let ofMoney = [
        ClubLife("a part of the money and that of an older period go back") { club in
            let held = try await club.pass(try await club.begin())
            _ = try await club.desk.refund(try #require(held.orders.last), 1_000)
            _ = try await club.desk.refund(try #require(held.orders.first))
            #expect(try await club.pass(held).renewal.period_index == 2)
        },
        ClubLife("a refund that bounces") { club in
            let contract = try await club.desk.checkout("club")
            try await club.play(contract)
            try await club.advance(120)
            let back = try await club.desk.refund(contract.order)
            try await club.desk.notify("refund.failed", contract, refund: back.refund.id)
            let held = try #require(try await club.list().first)
            #expect(held.status == .active && held.renewal.end_reason == "refunded")
            _ = try await club.pass(held)
        },
        ClubLife("a dispute that is won") { club in
            let contract = try await club.desk.checkout("club")
            try await club.play(contract)
            try await club.advance(120)
            try await club.desk.notify("dispute.opened", contract)
            #expect(try await club.list().first?.status == .suspended)
            try await club.desk.notify("dispute.won", contract)
            let held = try #require(try await club.list().first)
            #expect(try await club.pass(held).renewal.period_index == 1)
        },
        ClubLife("a dispute that is lost and won after all") { club in
            let contract = try await club.desk.checkout("club")
            try await club.play(contract)
            try await club.advance(120)
            try await club.desk.notify("dispute.opened", contract)
            try await club.desk.notify("dispute.lost", contract)
            #expect(try await club.list().first?.renewal.end_reason == "disputed")
            try await club.desk.pass(seconds: 1)
            try await club.desk.notify("dispute.won", contract)
            _ = try await club.pass(try #require(try await club.list().first))
        },
        ClubLife("a dispute of an older period, in dunning") { club in
            let contract = try await club.desk.checkout("club")
            try await club.play(contract)
            try await club.advance(120)
            let held = try await club.pass(try #require(try await club.list().first))
            try await club.play(held.id, "soft")
            _ = try await club.pass(held)
            try await club.desk.notify("dispute.opened", contract)
            try await club.advance(2 * Club.day)
            try await club.desk.notify("dispute.won", contract)
            try await club.play(held.id, "succeed")
            try await club.advance(6 * Club.day)
        },
    ]

    private static let ofOperators = [
        ClubLife("extended, tried again and ended with a share of the money") { club in
            let held = try await club.begin()
            let id = held.id.rawValue
            _ = try await club.acts.extend(id, days: 3, context: .test)
            try await club.play(held.id, "hard")
            try await club.advance(to: held.expires_at.adding(days: 4))
            _ = try await club.acts.retry(id, context: .test)
            try await club.advance(120)
            _ = try await club.acts.cancel(id, at: .now, refund: .prorated, context: .test)
        },
        ClubLife("prices that are announced, replaced and applied") { club in
            let held = try await club.begin()
            for price in [2_990, 3_990, 1_990] as [Int64] { try await club.announce(price) }
            let renewed = try await club.pass(held)
            #expect(renewed.renewal.next_amount == GatewayFixture.money(1_990))
            try await club.announce(990)
        },
        ClubLife("held for longer than a renewal lapses") { club in
            let held = try await club.begin()
            _ = try await club.gateway.billingHold.begin(reason: "restored", context: .test)
            try await club.advance(to: held.expires_at.adding(days: 40))
            _ = try await club.gateway.billingHold.end(acceptsUnchecked: true, context: .test)
            try await club.advance(Club.day)
            #expect(try await club.find(held.id).renewal.period_index == 1)
        },
        ClubLife("imported") { club in
            let imported = ImportedSubscription(
                externalID: "old", user: GatewayFixture.user("alice"), sku: "club", account: "box-url",
                reference: "imported_1", customer: nil, periodStart: nil,
                periodEnd: club.gateway.time.now.adding(days: 9), price: nil)
            let moved = try await club.gateway.subscriptionImport.run(imported, isDry: false, context: .test)
            #expect(try await club.pass(moved).renewal.period_index == 1)
        },
        ClubLife("taken by an admin, and renewed all the same") { club in
            let held = try await club.begin()
            let order = try #require(held.orders.last)
            let grant = try #require(try await club.desk.grants(order).first)
            _ = try await club.gateway.grants.revoke(grant.id.rawValue, context: .test)
            #expect(try await club.pass(held).renewal.period_index == 1)
        },
    ]
}
