import Domain
import Foundation
import PayPalProvider
import ProviderKit
import ProviderTesting
import Synchronization
import Testing

/// Tests of the facts that genuine notifications state.
struct PayPalEventTests {
    private let fixture = PayPalFixture()

    private func facts(_ type: String, _ resource: [String: Any]) async throws -> [ProviderFact] {
        try await fixture.provider().receive(fixture.notification(type, resource)).facts
    }

    @Test func `a refund that was made at PayPal has only its reference`() async throws {
        let payment = fixture.attempt().payment
        let made = FakePayPalServer.Refund(
            id: "1JU0", capture: "CAP1", custom: nil, invoice: nil, amount: ["currency_code": "USD", "value": "9.90"])
        try await fixture.standIn.take(capture("CAP1", of: payment), into: fixture.book)
        fixture.standIn.state.withLock { $0.refunds.append(made) }
        #expect(
            try await facts("PAYMENT.CAPTURE.REFUNDED", made.json) == [
                .refund(
                    RefundReport(
                        payment: payment, refund: nil, outcome: .succeeded, amount: usd(990), reference: "1JU0"))
            ])
    }

    @Test(arguments: [
        "BILLING.SUBSCRIPTION.CREATED", "PAYMENT.CAPTURE.REVERSED", "PAYMENT.SALE.COMPLETED",
        "CUSTOMER.MERCHANT-INTEGRATION",
    ])
    func `other events state nothing, and are acknowledged`(type: String) async throws {
        let received = try await fixture.provider().receive(fixture.notification(type, ["id": "x"]))
        #expect(received.facts.isEmpty && received.type == type && received.acknowledgement.status == 200)
        #expect(
            fixture.logged.contains { $0.hasPrefix("warning paypal: a capture was reversed") }
                == type.hasSuffix("REVERSED"))
    }

    @Test(
        arguments: [
            ("OPEN", nil, "CHARGEBACK", DisputeOutcome.opened), ("OPEN", nil, "INQUIRY", nil),
            ("WAITING_FOR_SELLER_RESPONSE", nil, "CHARGEBACK", .opened), ("UNDER_REVIEW", nil, "ARBITRATION", .opened),
            ("RESOLVED", "RESOLVED_SELLER_FAVOUR", "CHARGEBACK", .won),
            ("RESOLVED", "CANCELED_BY_BUYER", "INQUIRY", .won),
            ("RESOLVED", "RESOLVED_WITH_PAYOUT", "CHARGEBACK", .won), ("RESOLVED", "DENIED", "CHARGEBACK", .won),
            ("RESOLVED", "RESOLVED_BUYER_FAVOUR", "CHARGEBACK", .lost), ("RESOLVED", "ACCEPTED", "INQUIRY", .lost),
            ("RESOLVED", "A_NEW_WORD", "CHARGEBACK", nil), ("A_NEW_WORD", nil, "CHARGEBACK", nil),
        ] as [(String, String?, String, DisputeOutcome?)])
    func `each state of a dispute has its outcome`(
        status: String, code: String?, stage: String, outcome: DisputeOutcome?
    ) async throws {
        let payment = fixture.attempt().payment
        let amount = ["currency_code": "USD", "value": "39.90"]
        var object = PayPalRehearsal.dispute("PP-D-1", payment.rawValue, amount, status, code)
        object["dispute_life_cycle_stage"] = stage
        let data = try JSONSerialization.data(withJSONObject: object)
        fixture.standIn.state.withLock { $0.disputes["PP-D-1"] = data }
        let expected = outcome.map {
            [ProviderFact.dispute(DisputeReport(payment: payment, reference: "PP-D-1", outcome: $0, amount: usd(3990)))]
        }
        #expect(try await facts("CUSTOMER.DISPUTE.UPDATED", object) == expected ?? [])
    }

    @Test func `a right that is lacking is asked for again, and logged`() async throws {
        fixture.standIn.script("/disputes/", .paypal(403, "NOT_AUTHORIZED", "PERMISSION_DENIED"))
        await #expect(throws: ProviderError.unavailable) {
            try await facts("CUSTOMER.DISPUTE.CREATED", ["dispute_id": "PP-D-1"])
        }
        #expect(fixture.logged.contains { $0.hasPrefix("error paypal: a key or a right was refused") })
    }

    @Test func `PayPal's trouble has the notification sent again`() async throws {
        let trouble: [IncomingReply] = [
            IncomingReply(status: 500), .paypal(429, "RATE_LIMIT_REACHED"),
            IncomingReply(status: 200, body: Data("<html>".utf8)),
        ]
        for reply in trouble {
            for (type, part) in [
                ("PAYMENT.CAPTURE.COMPLETED", "/captures/"), ("CHECKOUT.ORDER.APPROVED", "/orders/"),
                ("PAYMENT.REFUND.COMPLETED", "/refunds/"),
            ] {
                fixture.standIn.script(part, reply)
                await #expect(throws: ProviderError.unavailable) { try await facts(type, ["id": "X1"]) }
            }
        }
    }

    @Test(arguments: [
        "", "null", "[]", #"{"id":"","event_type":"A","resource":{}}"#, #"{"id":"WH","event_type":"","resource":{}}"#,
        #"{"id":1,"event_type":"A","resource":{}}"#, #"{"id":"WH","event_type":"A"}"#,
        String(repeating: "[", count: 1 << 18),
    ])
    func `genuine garbage is rejected`(text: String) async throws {
        let body = Data(text.utf8)
        let raw = PayPalTestCertificates.notification(
            body, PayPalTestCertificates.headers(body, at: fixture.clock.now.rawValue))
        let error = await #expect(throws: ProviderError.self) { try await fixture.provider().receive(raw) }
        guard case .rejected? = error else { throw RehearsalGap("threw \(String(describing: error))") }
    }

    @Test(arguments: ["9999999999999999999999.00", "-1.00", "0.00", "1.001", "1,00", "", "1e3", "NaN"])
    func `a success without an exact amount is rejected`(value: String) async throws {
        let capture = FakePayPalServer.Capture(
            id: "CAP1", order: "O1", custom: fixture.attempt().payment.rawValue,
            amount: ["currency_code": "USD", "value": value])
        fixture.standIn.state.withLock { $0.captures.append(capture) }
        await #expect(throws: ProviderError.unproven(.badMoney)) {
            try await facts("PAYMENT.CAPTURE.COMPLETED", capture.json)
        }
    }

    @Test func `an approval of another order of the same payment is not captured`() async throws {
        let attempt = fixture.attempt()
        _ = try await fixture.provider().open(attempt)
        var other = FakePayPalServer.Order(
            id: "OTHER1", custom: attempt.payment.rawValue, invoice: "x",
            amount: ["currency_code": "USD", "value": "39.90"])
        other.status = "APPROVED"
        let made = other
        fixture.standIn.state.withLock { $0.orders.append(made) }
        #expect(try await facts("CHECKOUT.ORDER.APPROVED", made.json).isEmpty)
        #expect(!fixture.calls.contains { $0.hasSuffix("/capture") })
    }

    /// As in another database with the same account, or a restored one.
    @Test func `an approval of a payment that is not in the book is not captured`() async throws {
        let payment = fixture.attempt().payment
        var order = FakePayPalServer.Order(
            id: "LOST1", custom: payment.rawValue, invoice: "x", amount: ["currency_code": "USD", "value": "39.90"])
        order.status = "APPROVED"
        let made = order
        fixture.standIn.state.withLock { $0.orders.append(made) }
        #expect(try await facts("CHECKOUT.ORDER.APPROVED", made.json).isEmpty)
        #expect(!fixture.calls.contains { $0.hasSuffix("/capture") })
    }

    /// The maker of an order names the payee, and may name our payment in it.
    @Test func `a capture of another order pays nothing`() async throws {
        let attempt = fixture.attempt()
        _ = try await fixture.provider().open(attempt)
        var order = FakePayPalServer.Order(
            id: "OTHER2", custom: attempt.payment.rawValue, invoice: "x",
            amount: ["currency_code": "USD", "value": "39.90"])
        order.status = "COMPLETED"
        let other = order
        let capture = FakePayPalServer.Capture(
            id: "CAP9", order: other.id, custom: attempt.payment.rawValue,
            amount: ["currency_code": "USD", "value": "39.90"])
        fixture.standIn.state.withLock { state in
            state.orders.append(other)
            state.captures.append(capture)
        }
        #expect(try await facts("PAYMENT.CAPTURE.COMPLETED", capture.json).isEmpty)
    }

    private func capture(_ id: String, of payment: ID<Payment>, order: String = "O1") -> FakePayPalServer.Capture {
        FakePayPalServer.Capture(
            id: id, order: order, custom: payment.rawValue, amount: ["currency_code": "USD", "value": "39.90"])
    }

    /// Makes a refund of money that PayPal took back, in the form of its event.
    private func reversal(
        of capture: String, _ value: String = "39.90", custom: String? = nil
    ) -> FakePayPalServer.Refund {
        let made = FakePayPalServer.Refund(
            id: "REV1", capture: capture, custom: custom, invoice: custom,
            amount: ["currency_code": "USD", "value": value])
        fixture.standIn.state.withLock { $0.refunds.append(made) }
        return made
    }

    @Test(
        arguments: [
            ("UNDER_REVIEW", nil, DisputeOutcome.opened), ("RESOLVED", "RESOLVED_BUYER_FAVOUR", .lost),
            ("RESOLVED", "RESOLVED_SELLER_FAVOUR", .won),
        ] as [(String, String?, DisputeOutcome)])
    func `a reversal is what its dispute says`(status: String, code: String?, outcome: DisputeOutcome) async throws {
        let payment = fixture.attempt().payment
        try await fixture.standIn.take(capture("CAP1", of: payment), into: fixture.book)
        let amount = ["currency_code": "USD", "value": "39.90"]
        for (id, capture) in [("PP-D-1", "CAP1"), ("PP-D-2", "CAP2")] {
            let dispute = PayPalRehearsal.dispute(id, payment.rawValue, amount, status, code, capture: capture)
            let data = try JSONSerialization.data(withJSONObject: dispute)
            fixture.standIn.state.withLock { $0.disputes[id] = data }
        }
        #expect(
            try await facts("PAYMENT.CAPTURE.REVERSED", reversal(of: "CAP1", custom: payment.rawValue).json) == [
                .dispute(
                    DisputeReport(payment: payment, reference: "PP-D-1", outcome: outcome, amount: usd(3990)))
            ])
    }

    @Test(arguments: [true, false])
    func `a reversal of which no dispute tells is money given back`(isNamed: Bool) async throws {
        let payment = fixture.attempt().payment
        try await fixture.standIn.take(capture("CAP1", of: payment), into: fixture.book)
        let made = reversal(of: "CAP1", "9.90", custom: isNamed ? payment.rawValue : nil)
        #expect(
            try await facts("PAYMENT.CAPTURE.REVERSED", made.json) == [
                .refund(
                    RefundReport(
                        payment: payment, refund: nil, outcome: .succeeded, amount: usd(990), reference: "REV1"))
            ])
    }

    @Test(arguments: [500, 502, 503])
    func `a reversal is told again until PayPal says whether there is a dispute`(status: Int) async throws {
        let payment = fixture.attempt().payment
        try await fixture.standIn.take(capture("CAP1", of: payment), into: fixture.book)
        let made = reversal(of: "CAP1")
        fixture.standIn.script("/disputes", IncomingReply(status: status))
        await #expect(throws: ProviderError.unavailable) { try await facts("PAYMENT.CAPTURE.REVERSED", made.json) }
        #expect(try await facts("PAYMENT.CAPTURE.REVERSED", made.json).count == 1)
    }

    @Test func `a reversal is money given back where the app has no right to see disputes`() async throws {
        let payment = fixture.attempt().payment
        try await fixture.standIn.take(capture("CAP1", of: payment), into: fixture.book)
        let made = reversal(of: "CAP1")
        fixture.standIn.script("/disputes", .paypal(403, "NOT_AUTHORIZED", "PERMISSION_DENIED"))
        #expect(
            try await facts("PAYMENT.CAPTURE.REVERSED", made.json) == [
                .refund(
                    RefundReport(
                        payment: payment, refund: nil, outcome: .succeeded, amount: usd(3990), reference: "REV1"))
            ])
        #expect(fixture.logged.contains { $0.hasPrefix("error paypal: a key or a right was refused") })
    }

    /// The maker of an order names the payee, and may name our payment in it.
    @Test func `what went back of another order is none of ours`() async throws {
        let payment = fixture.attempt().payment
        try await fixture.standIn.take(capture("CAP1", of: payment), into: fixture.book)
        fixture.standIn.state.withLock { $0.captures.append(capture("CAP2", of: payment, order: "O2")) }
        let made = reversal(of: "CAP2", custom: payment.rawValue)
        let amount = ["currency_code": "USD", "value": "39.90"]
        let dispute = PayPalRehearsal.dispute("PP-D-1", payment.rawValue, amount, "OPEN", nil, capture: "CAP2")
        let data = try JSONSerialization.data(withJSONObject: dispute)
        fixture.standIn.state.withLock { $0.disputes["PP-D-1"] = data }
        for (type, resource) in [
            ("PAYMENT.CAPTURE.REFUNDED", made.json), ("PAYMENT.CAPTURE.REVERSED", made.json),
            ("CUSTOMER.DISPUTE.CREATED", dispute),
        ] {
            #expect(try await facts(type, resource).isEmpty, "\(type)")
        }
        // An order that PayPal has dropped contradicts nothing.
        fixture.standIn.state.withLock { $0.orders = [] }
        #expect(try await facts("PAYMENT.CAPTURE.REFUNDED", made.json).count == 1)
    }
}
