import Domain
import Foundation
import ProviderKit
import ProviderTesting
import Testing

@testable import PayPalProvider

/// Compares our requests with the schemas that PayPal publishes.
///
/// Its OpenAPI documents are `checkout_orders_v2` (schemas `order_request`, `purchase_unit_request`,
/// `amount_with_breakdown`, `paypal_wallet_experience_context`) and `payments_payment_v2` (`refund_request`, `money`).
/// The narrower limit counts when two editions differ.
struct PayPalShapeTests {
    private enum Rule {
        case words(Set<String>)
        case length(ClosedRange<Int>)
        case address
        case matching(String)
    }

    private static let amount = #"^((-?[0-9]+)|(-?([0-9]+)?[.][0-9]+))$"#
    private static let id = "^[A-Za-z0-9_.,-]{1,127}$"

    private static let order: [String: Rule] = [
        "intent": .words(["CAPTURE", "AUTHORIZE"]),
        "purchase_units.0.reference_id": .length(1...256), "purchase_units.0.custom_id": .length(1...127),
        "purchase_units.0.invoice_id": .length(1...127), "purchase_units.0.description": .length(1...127),
        "purchase_units.0.amount.currency_code": .matching("^[A-Z]{3}$"),
        "purchase_units.0.amount.value": .matching(amount),
        "payment_source.paypal.experience_context.return_url": .address,
        "payment_source.paypal.experience_context.cancel_url": .address,
        "payment_source.paypal.experience_context.brand_name": .length(1...127),
        "payment_source.paypal.experience_context.user_action": .words(["CONTINUE", "PAY_NOW"]),
        "payment_source.paypal.experience_context.shipping_preference": .words([
            "GET_FROM_FILE", "NO_SHIPPING", "SET_PROVIDED_ADDRESS",
        ]),
        "payment_source.paypal.experience_context.payment_method_preference": .words([
            "UNRESTRICTED", "IMMEDIATE_PAYMENT_REQUIRED",
        ]),
    ]

    private static let refund: [String: Rule] = [
        "amount.currency_code": .matching("^[A-Z]{3}$"), "amount.value": .matching(amount),
        "custom_id": .matching(id), "invoice_id": .length(1...127),
    ]

    /// Returns every text of a body by its path.
    private static func leaves(_ value: Any, _ path: [String] = []) -> [String: String] {
        if let object = value as? [String: Any] {
            return object.reduce(into: [:]) { $0.merge(leaves($1.value, path + [$1.key])) { first, _ in first } }
        }
        if let list = value as? [Any] {
            return list.enumerated().reduce(into: [:]) {
                $0.merge(leaves($1.element, path + [String($1.offset)])) { first, _ in first }
            }
        }
        // These two schemas have only texts; for other values the empty text breaks every rule.
        return [path.joined(separator: "."): value as? String ?? ""]
    }

    private static func fits(_ text: String, _ rule: Rule) throws -> Bool {
        switch rule {
        case .words(let words): words.contains(text)
        case .length(let range): range.contains(text.unicodeScalars.count)
        case .address: WebAddress(text)?.isWeb ?? false
        case .matching(let pattern): try Regex(pattern).wholeMatch(in: text) != nil
        }
    }

    @Test(
        arguments: [
            ("VIP monthly", 3990), ("", 1), (String(repeating: "会员“月卡” ", count: 200), 99_999_999),
            (String(repeating: "\u{1F469}\u{200D}\u{1F469}\u{200D}\u{1F467}", count: 100), 100),
        ] as [(String, Int64)])
    func `our order and our refund fit`(title: String, value: Int64) async throws {
        let fixture = PayPalFixture()
        let provider = try fixture.provider(["brand_name": .text("A shop")])
        let attempt = fixture.attempt(usd(value), title: title)
        _ = try await provider.open(attempt)
        let payment = try await fixture.paid(provider)
        _ = try await provider.refund(fixture.refund(payment, usd(990)))
        let calls = fixture.transport.requests.map(FakePayPalServerCall.init).filter { $0.method == "POST" }
        var seen = 0
        for (name, rules) in [("orders", Self.order), ("refund", Self.refund)] {
            for call in calls where call.path.last == name {
                let leaves = Self.leaves(call.object)
                #expect(Set(leaves.keys) == Set(rules.keys), "\(name)")
                for (path, text) in leaves {
                    let rule = try #require(rules[path], "\(path)")
                    #expect(try Self.fits(text, rule), "\(path): \(text)")
                }
                seen += 1
            }
        }
        #expect(seen == 3)
    }

    @Test func `the manifest names each currency of PayPal's once`() {
        let codes = PayPalProvider.manifest.currencies.map(\.code)
        #expect(codes.count == 23 && Set(codes).count == 23 && codes == codes.sorted())
    }
}
