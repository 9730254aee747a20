import Domain
import Foundation
import PayPalProvider
import ProviderKit
import ProviderTesting
import Synchronization
import Testing

/// Tests of tokens, orders and captures.
struct PayPalCaptureTests {
    private let fixture = PayPalFixture()

    @Test(arguments: ["payer-action", "approve"])
    func `an order says what PayPal has to know, and either link leads to its page`(rel: String) async throws {
        fixture.standIn.state.withLock { $0.rel = rel }
        let attempt = fixture.attempt(title: "会员 “月卡” / VIP")
        let opened = try await fixture.provider(["brand_name": .text("A shop")]).open(attempt)
        guard case .url(let page) = opened.instruction else { throw RehearsalGap("gave \(opened.instruction)") }
        #expect(
            page == "https://www.paypal.com/checkoutnow?token=\(opened.reference ?? "-")" && opened.outcome == .accepted
        )
        let request = try #require(fixture.transport.requests.last)
        let (call, id) = (FakePayPalServerCall(request), attempt.payment.rawValue)
        #expect(request.url == "https://api-m.paypal.com/v2/checkout/orders")
        #expect(call.header("paypal-request-id") == "\(id)-open" && call.header("prefer") == "return=representation")
        #expect(
            call.object as NSDictionary == [
                "intent": "CAPTURE",
                "purchase_units": [
                    [
                        "reference_id": id, "custom_id": id, "invoice_id": id, "description": attempt.title,
                        "amount": ["currency_code": "USD", "value": "39.90"],
                    ]
                ],
                "payment_source": [
                    "paypal": [
                        "experience_context": [
                            "return_url": "https://app.example/done", "cancel_url": "https://app.example/done",
                            "user_action": "PAY_NOW", "shipping_preference": "NO_SHIPPING",
                            "payment_method_preference": "IMMEDIATE_PAYMENT_REQUIRED", "brand_name": "A shop",
                        ]
                    ]
                ],
            ])
    }

    @Test func `one token serves many calls until shortly before its end`() async throws {
        let provider = try fixture.provider()
        for _ in 0..<5 { _ = try await provider.open(fixture.attempt()) }
        #expect(fixture.standIn.state.withLock { $0.tokensMade } == 1)
        fixture.clock.advance(seconds: 32_400 - 121)
        _ = try await provider.open(fixture.attempt())
        #expect(fixture.standIn.state.withLock { $0.tokensMade } == 1)
        fixture.clock.advance(seconds: 1)
        _ = try await provider.open(fixture.attempt())
        #expect(fixture.standIn.state.withLock { $0.tokensMade } == 2)
    }

    @Test func `a token that is refused is renewed once, and many calls need one renewal`() async throws {
        let (provider, fixture) = (try fixture.provider(), fixture)
        _ = try await provider.open(fixture.attempt())
        fixture.standIn.state.withLock { $0.tokens = [:] }
        _ = try await provider.open(fixture.attempt())
        #expect(fixture.standIn.state.withLock { $0.tokensMade } == 2)
        fixture.standIn.state.withLock { $0.tokens = [:] }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<10 { group.addTask { _ = try await provider.open(fixture.attempt()) } }
            try await group.waitForAll()
        }
        // Calls that were refused with the old token after the new one came keep the new one.
        #expect(fixture.standIn.state.withLock { $0.tokensMade } == 3)
        let before = fixture.calls.count
        for _ in 0..<2 { fixture.standIn.script("/v2/checkout/orders", .paypal(401, "invalid_token")) }
        await #expect(throws: ProviderError.unavailable) { try await provider.open(fixture.attempt()) }
        #expect(fixture.calls.count == before + 2)
    }

    @Test(arguments: [401, 500, 200])
    func `without a token nothing is opened`(status: Int) async throws {
        fixture.standIn.script(
            "/oauth2/token", IncomingReply(status: status, body: Data(#"{"error":"invalid_client"}"#.utf8)))
        await #expect(throws: ProviderError.unavailable) { try await fixture.provider().open(fixture.attempt()) }
        #expect(fixture.calls.isEmpty)
    }

    @Test func `after six hours an opening is repeated by its order and not by its key`() async throws {
        let attempt = fixture.attempt()
        let first = try await fixture.provider().open(attempt)
        fixture.clock.advance(seconds: 7 * 3_600)
        let again = try await fixture.provider().open(attempt)
        #expect(again.instruction == first.instruction && again.reference == first.reference)
        #expect(fixture.standIn.state.withLock { $0.orders.count } == 1)
    }

    @Test(arguments: ["PAYER_ACTION_REQUIRED", "CREATED", "SAVED"])
    func `an order that nobody approved is not captured`(status: String) async throws {
        let attempt = fixture.attempt()
        let opened = try await fixture.provider().open(attempt)
        fixture.standIn.state.withLock { $0.orders[0].status = status }
        let report = try await fixture.provider().query(fixture.reference(attempt, opened.reference))
        #expect(report.outcome == .accepted && !fixture.calls.contains { $0.hasSuffix("/capture") })
    }

    @Test(arguments: [
        ("COMPLETED", PaymentOutcome.succeeded(usd(3990))), ("PARTIALLY_REFUNDED", .succeeded(usd(3990))),
        ("REFUNDED", .succeeded(usd(3990))), ("PENDING", .pending(status: "PENDING")),
        ("DECLINED", .failed(reason: "capture_declined")), ("FAILED", .failed(reason: "capture_failed")),
        ("TELEPORTED", .pending(status: "TELEPORTED")), ("completed", .pending(status: "completed")),
    ])
    func `a completed order is worth what its capture says`(status: String, outcome: PaymentOutcome) async throws {
        let attempt = fixture.attempt()
        let opened = try await fixture.provider().open(attempt)
        fixture.standIn.state.withLock { $0.captureStatus = status }
        _ = fixture.standIn.approve(attempt.payment.rawValue)
        let reference = fixture.reference(attempt, opened.reference)
        #expect(try await fixture.provider().query(reference).outcome == outcome)
        #expect(try await fixture.provider().query(reference).outcome == outcome)
        #expect(fixture.standIn.order(attempt.payment.rawValue)?.captures.count == 1)
    }

    @Test(
        arguments: [
            ("DECLINED", .failed(reason: "capture_declined")), ("FAILED", .failed(reason: "capture_failed")),
            ("PENDING", .pending(status: "PENDING")), ("COMPLETED", .succeeded(usd(3990))),
            (nil, .pending(status: "unknown_status")),
        ] as [(String?, PaymentOutcome)])
    func `an order without a status is worth what its capture says`(
        status: String?, outcome: PaymentOutcome
    ) async throws {
        let attempt = fixture.attempt()
        let opened = try await fixture.provider().open(attempt)
        let made = [status].compactMap { $0 }.map {
            FakePayPalServer.Capture(
                id: "CAP1", order: opened.reference ?? "", custom: attempt.payment.rawValue,
                amount: ["currency_code": "USD", "value": "39.90"], status: $0)
        }
        fixture.standIn.state.withLock { state in
            state.orders[0].hasStatus = false
            state.orders[0].captures = made
        }
        let report = try await fixture.provider().query(fixture.reference(attempt, opened.reference))
        #expect(report.outcome == outcome && captures.isEmpty)
    }

    @Test func `a completed order without any capture is not paid`() async throws {
        let attempt = fixture.attempt()
        let opened = try await fixture.provider().open(attempt)
        fixture.standIn.state.withLock { $0.orders[0].status = "COMPLETED" }
        let report = try await fixture.provider().query(fixture.reference(attempt, opened.reference))
        #expect(report.outcome == .pending(status: "COMPLETED"))
    }

    @Test(arguments: [
        ("ORDER_NOT_APPROVED", PaymentOutcome.accepted), ("PAYER_ACTION_REQUIRED", .accepted),
        ("INSTRUMENT_DECLINED", .tryFailed(reason: "INSTRUMENT_DECLINED")),
        ("MAX_NUMBER_OF_PAYMENT_ATTEMPTS_EXCEEDED", .failed(reason: "MAX_NUMBER_OF_PAYMENT_ATTEMPTS_EXCEEDED")),
        ("ORDER_COMPLETION_IN_PROGRESS", .pending(status: "ORDER_COMPLETION_IN_PROGRESS")),
        ("DUPLICATE_INVOICE_ID", .pending(status: "DUPLICATE_INVOICE_ID")),
        ("A_NEW_WORD", .pending(status: "A_NEW_WORD")),
    ])
    func `each refusal of a capture has its meaning`(issue: String, outcome: PaymentOutcome) async throws {
        let attempt = fixture.attempt()
        let opened = try await fixture.provider().open(attempt)
        _ = fixture.standIn.approve(attempt.payment.rawValue)
        fixture.standIn.script("/capture", .paypal(422, "UNPROCESSABLE_ENTITY", issue))
        let report = try await fixture.provider().query(fixture.reference(attempt, opened.reference))
        #expect(report.outcome == outcome)
    }

    @Test func `a capture whose answer is lost is found captured`() async throws {
        let attempt = fixture.attempt()
        let opened = try await fixture.provider().open(attempt)
        _ = fixture.standIn.approve(attempt.payment.rawValue)
        let reference = fixture.reference(attempt, opened.reference)
        fixture.transport.behaviour = .lostReplies
        await #expect(throws: ProviderError.outcomeUnknown) { try await fixture.provider().query(reference) }
        fixture.transport.behaviour = .normal
        #expect(try await fixture.provider().query(reference).outcome == .succeeded(usd(3990)))
        // Another process asked in the same moment.
        fixture.standIn.state.withLock { $0.orders[0].status = "APPROVED" }
        fixture.standIn.script("/capture", .paypal(422, "UNPROCESSABLE_ENTITY", "ORDER_ALREADY_CAPTURED"))
        #expect(try await fixture.provider().query(reference).outcome == .succeeded(usd(3990)))
    }

    @Test func `after a declined card the payer may approve again`() async throws {
        let attempt = fixture.attempt()
        let opened = try await fixture.provider().open(attempt)
        let reference = fixture.reference(attempt, opened.reference)
        _ = fixture.standIn.approve(attempt.payment.rawValue, declining: true)
        #expect(try await fixture.provider().query(reference).outcome == .tryFailed(reason: "INSTRUMENT_DECLINED"))
        _ = fixture.standIn.approve(attempt.payment.rawValue)
        #expect(try await fixture.provider().query(reference).outcome == .succeeded(usd(3990)))
        let key = "\(attempt.payment.rawValue)-capture"
        #expect(captures == [key, "\(key)-1"], "each approval has its own capture")
    }

    @Test func `a capture whose answer was lost keeps its key`() async throws {
        let provider = try fixture.provider()
        let reference = try await approved(provider)
        let lost: [IncomingReply] = [IncomingReply(status: 500), .paypal(429, "RATE_LIMIT_REACHED")]
        for reply in lost {
            fixture.standIn.script("/capture", reply)
            await #expect(throws: ProviderError.self) { try await provider.query(reference) }
        }
        #expect(try await provider.query(reference).outcome == .succeeded(usd(3990)))
        #expect(captures == Array(repeating: "\(reference.payment.rawValue)-capture", count: 3))
    }

    @Test(arguments: [
        "PAYER_ACCOUNT_RESTRICTED", "PAYER_ACCOUNT_LOCKED_OR_CLOSED", "TRANSACTION_LIMIT_EXCEEDED",
        "COMPLIANCE_VIOLATION", "PAYEE_BLOCKED_TRANSACTION", "TRANSACTION_BLOCKED_BY_PAYEE",
        "DOMESTIC_TRANSACTION_REQUIRED", "A_NEW_WORD",
    ])
    func `a cancel after a refused capture asks for no other`(issue: String) async throws {
        let provider = try fixture.provider()
        let reference = try await approved(provider)
        fixture.standIn.script("/capture", .paypal(422, "UNPROCESSABLE_ENTITY", issue))
        #expect(try await provider.query(reference).outcome == .pending(status: issue))
        #expect(try await provider.cancel(reference).outcome == .cancelled)
        #expect(try await provider.query(reference).outcome == .cancelled)
        #expect(captures.count == 1)
    }

    @Test(
        arguments: [
            ("ORDER_COMPLETION_IN_PROGRESS", .pending(status: "ORDER_COMPLETION_IN_PROGRESS")),
            ("DUPLICATE_INVOICE_ID", .pending(status: "DUPLICATE_INVOICE_ID")),
            ("DUPLICATE_REQUEST_ID", .pending(status: "DUPLICATE_REQUEST_ID")),
            ("PREVIOUS_REQUEST_IN_PROGRESS", .pending(status: "PREVIOUS_REQUEST_IN_PROGRESS")),
            ("PAYPAL_REQUEST_ID_PREVIOUSLY_USED", .pending(status: "PAYPAL_REQUEST_ID_PREVIOUSLY_USED")),
            // The order does not show the capture yet.
            ("ORDER_ALREADY_CAPTURED", .accepted),
        ] as [(String, PaymentOutcome)])
    func `a cancel beside a capture that may take the money waits for it, and asks for no other`(
        issue: String, outcome: PaymentOutcome
    ) async throws {
        let provider = try fixture.provider()
        let reference = try await approved(provider)
        fixture.standIn.script("/capture", .paypal(422, "UNPROCESSABLE_ENTITY", issue))
        #expect(try await provider.query(reference).outcome == outcome)
        let waiting = PaymentOutcome.processing
        #expect(try await provider.cancel(reference).outcome == waiting)
        #expect(try await provider.query(reference).outcome == waiting)
        let order = try #require(fixture.standIn.order(reference.payment.rawValue))
        #expect(
            try await provider.receive(fixture.notification("CHECKOUT.ORDER.APPROVED", order.json)).facts == [
                .payment(PaymentReport(payment: reference.payment, outcome: waiting, reference: order.id))
            ])
        fixture.clock.advance(seconds: 3_600)
        #expect(try await provider.cancel(reference).outcome == waiting)
        fixture.clock.advance(seconds: 1)
        #expect(try await provider.cancel(reference).outcome == .cancelled)
        #expect(try await provider.query(reference).outcome == .cancelled)
        #expect(captures.count == 1)
    }

    @Test func `an order that PayPal dropped ends its cancelled payment a day after the last capture`() async throws {
        let provider = try fixture.provider()
        let reference = try await approved(provider)
        fixture.standIn.script("/capture", IncomingReply(status: 500))
        await #expect(throws: ProviderError.outcomeUnknown) { try await provider.query(reference) }
        fixture.standIn.state.withLock { $0.orders = [] }
        #expect(try await provider.cancel(reference).outcome == .pending(status: "not_found"))
        fixture.clock.advance(seconds: 86_400)
        #expect(try await provider.cancel(reference).outcome == .pending(status: "not_found"))
        fixture.clock.advance(seconds: 1)
        #expect(try await provider.cancel(reference).outcome == .cancelled)
    }

    /// Records of an earlier version have neither.
    @Test func `a capture without a time and a number counts from the cancel`() async throws {
        let provider = try fixture.provider()
        let reference = try await approved(provider)
        try await store(#""state":"capturing""#, of: reference)
        #expect(try await provider.cancel(reference).outcome == .processing)
        fixture.clock.advance(seconds: 3_601)
        #expect(try await provider.cancel(reference).outcome == .cancelled)
        #expect(captures.isEmpty)
    }

    /// Opens a payment and approves it like the payer.
    private func approved(_ provider: PayPalProvider) async throws -> ProviderReference {
        let attempt = fixture.attempt()
        let reference = fixture.reference(attempt, try await provider.open(attempt).reference)
        _ = fixture.standIn.approve(attempt.payment.rawValue)
        return reference
    }

    /// Stores a record of the payment with further fields in the account book.
    private func store(_ fields: String, of payment: ProviderReference) async throws {
        let record = Data(#"{"order":"\#(payment.reference ?? "")",\#(fields)}"#.utf8)
        _ = try await fixture.book.update("payment/\(payment.payment.rawValue)") { _ in record }
    }

    /// The idempotency keys of the captures.
    private var captures: [String] {
        fixture.transport.requests.map(FakePayPalServerCall.init).filter { $0.path.last == "capture" }
            .map { $0.header("paypal-request-id") ?? "" }
    }

    @Test func `a cancelled payment is never captured, and one that is paid says so`() async throws {
        let provider = try fixture.provider()
        let attempt = fixture.attempt()
        let opened = try await provider.open(attempt)
        let reference = fixture.reference(attempt, opened.reference)
        #expect(try await provider.cancel(reference).outcome == .cancelled)
        _ = fixture.standIn.approve(attempt.payment.rawValue)
        #expect(try await provider.query(reference).outcome == .cancelled)
        let order = try #require(fixture.standIn.order(attempt.payment.rawValue))
        let received = try await provider.receive(fixture.notification("CHECKOUT.ORDER.APPROVED", order.json))
        #expect(
            received.facts == [
                .payment(PaymentReport(payment: attempt.payment, outcome: .cancelled, reference: order.id))
            ])
        #expect(fixture.standIn.order(attempt.payment.rawValue)?.captures.isEmpty == true)
        let paid = try await fixture.paid(provider)
        #expect(try await provider.cancel(paid).outcome == .succeeded(usd(3990)))
    }

    @Test func `a cancel after a capture without an answer tells what came of it`() async throws {
        let provider = try fixture.provider()
        let attempt = fixture.attempt()
        let opened = try await provider.open(attempt)
        let reference = fixture.reference(attempt, opened.reference)
        _ = fixture.standIn.approve(attempt.payment.rawValue)
        fixture.transport.behaviour = .lostReplies
        _ = try? await provider.query(reference)
        fixture.transport.behaviour = .normal
        #expect(try await provider.cancel(reference).outcome == .succeeded(usd(3990)))
        // One that was declined is closed, and stays so.
        let other = fixture.attempt()
        let second = fixture.reference(other, try await provider.open(other).reference)
        _ = fixture.standIn.approve(other.payment.rawValue, declining: true)
        _ = try await provider.query(second)
        #expect(try await provider.cancel(second).outcome == .cancelled)
        _ = fixture.standIn.approve(other.payment.rawValue)
        #expect(try await provider.query(second).outcome == .cancelled)
    }

    @Test func `a cancel after a declined card takes no money, whatever the card would do now`() async throws {
        let provider = try fixture.provider()
        let attempt = fixture.attempt()
        let reference = fixture.reference(attempt, try await provider.open(attempt).reference)
        _ = fixture.standIn.approve(attempt.payment.rawValue, declining: true)
        // The answer of the first capture is lost: what the second one says holds of both.
        fixture.standIn.script("/capture", IncomingReply(status: 500))
        await #expect(throws: ProviderError.outcomeUnknown) { try await provider.query(reference) }
        #expect(try await provider.query(reference).outcome == .tryFailed(reason: "INSTRUMENT_DECLINED"))
        fixture.standIn.state.withLock { $0.orders[0].isDeclining = false }
        let asked = fixture.calls.count
        #expect(try await provider.cancel(reference).outcome == .cancelled)
        #expect(!fixture.calls[asked...].contains { $0.hasSuffix("/capture") })
        #expect(fixture.standIn.order(attempt.payment.rawValue)?.captures.isEmpty == true)
        #expect(try await provider.query(reference).outcome == .cancelled)
    }

    /// The other capture may still take the money.
    @Test func `a declined capture beside another one leaves the payment to be asked about`() async throws {
        let provider = try fixture.provider()
        let reference = try await approved(provider)
        // A process ended in the middle of its capture.
        try await store(#""state":"capturing","captures":1"#, of: reference)
        fixture.standIn.script("/capture", .paypal(422, "UNPROCESSABLE_ENTITY", "INSTRUMENT_DECLINED"))
        #expect(try await provider.query(reference).outcome == .tryFailed(reason: "INSTRUMENT_DECLINED"))
        #expect(try await provider.cancel(reference).outcome == .processing)
        #expect(captures.count == 1)
        _ = fixture.standIn.state.withLock { state in FakePayPalServer.capture(state.orders[0].id, &state) }
        #expect(try await provider.query(reference).outcome == .succeeded(usd(3990)))
    }

    @Test func `a refund that was made at PayPal is asked about by its reference`() async throws {
        let provider = try fixture.provider()
        let payment = try await fixture.paid(provider)
        let capture = try #require(fixture.standIn.order(payment.payment.rawValue)?.captures.first)
        // It takes over the capture's ids, or has the merchant's own words.
        for (number, invoice) in [payment.payment.rawValue, "INV-77", nil].enumerated() {
            let made = FakePayPalServer.Refund(
                id: "1JU0-\(number)", capture: capture.id, custom: payment.payment.rawValue, invoice: invoice,
                amount: ["currency_code": "USD", "value": "9.90"])
            fixture.standIn.state.withLock { $0.refunds.append(made) }
            let adopted = fixture.refund(payment, usd(990), reference: made.id)
            let report = try await provider.query(refund: adopted)
            #expect(report.outcome == .succeeded && report.amount == usd(990) && report.reference == made.id)
        }
        let ours = fixture.refund(payment, usd(990))
        let reference = try await provider.refund(ours).reference
        let another = fixture.refund(payment, usd(990), reference: reference)
        await #expect(throws: ProviderError.unproven(.otherPayment)) { try await provider.query(refund: another) }
        let elsewhere = fixture.refund(try await fixture.paid(provider), usd(990), reference: "1JU0-0")
        await #expect(throws: ProviderError.unproven(.otherPayment)) { try await provider.query(refund: elsewhere) }
    }

    @Test(arguments: ["another payment's", "another amount", "another id", "no page", "foreign page"])
    func `an opening's answer that is not this payment's leaves it unknown`(lie: String) async throws {
        let attempt = fixture.attempt()
        var order = FakePayPalServer.Order(
            id: "5O19", custom: attempt.payment.rawValue, invoice: "x",
            amount: ["currency_code": "USD", "value": lie == "another amount" ? "0.01" : "39.90"])
        if lie == "another payment's" {
            order = FakePayPalServer.Order(
                id: "5O19", custom: fixture.attempt().payment.rawValue, invoice: "x", amount: order.amount)
        }
        var object = order.json
        if lie == "another id" { object["id"] = "../x" }
        if lie == "no page" { object["links"] = [Any]() }
        if lie == "foreign page" { object["links"] = [["href": "javascript:alert(1)", "rel": "approve"]] }
        fixture.standIn.script("/v2/checkout/orders", .json(object, status: 201))
        let error = await #expect(throws: ProviderError.self) { try await fixture.provider().open(attempt) }
        #expect(error == .outcomeUnknown || error?.isUnproven == true)
    }

    @Test(arguments: ["", "..", "5O19/capture", "5O19?x=1", "é", String(repeating: "x", count: 65)])
    func `a reference that is none of PayPal's is not asked for`(reference: String) async throws {
        let payment = fixture.reference(fixture.attempt(), reference)
        await #expect(throws: ProviderError.unproven(.otherPayment)) { try await fixture.provider().query(payment) }
        let refund = fixture.refund(payment, usd(1), reference: reference)
        await #expect(throws: ProviderError.unproven(.otherPayment)) {
            try await fixture.provider().query(refund: refund)
        }
        #expect(fixture.calls.isEmpty)
    }

    @Test(arguments: [
        ("JPY", 3990, "3990"), ("HUF", 399_000, "3990"), ("TWD", 100, "1"), ("EUR", 5, "0.05"), ("USD", 100, "1.00"),
    ])
    func `amounts are written as PayPal wants them`(code: String, value: Int64, text: String) async throws {
        let amount = Money(value: value, currency: Currency(code)!)
        let provider = try fixture.provider()
        let payment = try await fixture.paid(provider, amount)
        #expect(fixture.standIn.state.withLock { $0.orders[0].amount["value"] } == text)
        #expect(try await provider.query(payment).outcome == .succeeded(amount))
    }

    @Test(arguments: [("HUF", 399_001), ("TWD", 1), ("CNY", 100), ("KWD", 1_000), ("USD", 0), ("USD", -1)])
    func `what cannot be charged exactly is refused before a call`(code: String, value: Int64) async throws {
        let amount = Money(value: value, currency: Currency(code)!)
        let error = await #expect(throws: ProviderError.self) {
            try await fixture.provider().open(fixture.attempt(amount))
        }
        guard case .unfit? = error else { throw RehearsalGap("threw \(String(describing: error))") }
        #expect(fixture.calls.isEmpty)
    }

    @Test func `a refund is one by its number, found again after its key is forgotten`() async throws {
        let provider = try fixture.provider()
        let refund = fixture.refund(try await fixture.paid(provider), usd(990))
        let first = try await provider.refund(refund)
        #expect(first.outcome == .succeeded && first.amount == usd(990))
        let call = try #require(fixture.transport.requests.last.map(FakePayPalServerCall.init))
        #expect(
            call.object as NSDictionary == [
                "amount": ["currency_code": "USD", "value": "9.90"], "invoice_id": refund.refund.rawValue,
                "custom_id": refund.payment.payment.rawValue,
            ])
        #expect(call.header("paypal-request-id") == "\(refund.refund.rawValue)-refund")
        fixture.clock.advance(seconds: 30 * 86_400)
        #expect(try await provider.refund(refund) == first)
        #expect(fixture.standIn.order(refund.payment.payment.rawValue)?.refunds.count == 1)
        for (status, outcome) in [
            ("PENDING", RefundOutcome.pending), ("FAILED", .failed(reason: "refund_failed")),
            ("CANCELLED", .failed(reason: "refund_cancelled")), ("TELEPORTED", .pending),
        ] {
            fixture.standIn.state.withLock { $0.orders[0].refunds[0].status = status }
            #expect(try await provider.query(refund: refund).outcome == outcome)
        }
        let never = fixture.refund(refund.payment, usd(1))
        #expect(try await provider.query(refund: never).outcome == .pending)
        fixture.clock.advance(seconds: 86_401)
        #expect(try await provider.query(refund: never).outcome == .failed(reason: "never_arrived"))
    }
}
