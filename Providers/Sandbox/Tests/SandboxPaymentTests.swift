import Domain
import Foundation
import ProviderKit
import ProviderTesting
import SandboxProvider
import Testing

struct SandboxPaymentTests {
    private let fixture = SandboxFixture()

    @Test func `each contract type has its own instruction`() async throws {
        let attempt = fixture.attempt()
        let page = "https://pay.example/sandbox/\(attempt.payment)"
        func instruction(_ contract: String) async throws -> PaymentInstruction {
            try await SandboxFixture().provider(["contract": .text(contract)]).open(attempt).instruction
        }
        #expect(try await instruction("url") == .url(checkoutURL: page))
        #expect(try await instruction("qr") == .qr(text: page))
        #expect(try await instruction("none") == .none)
        guard case .stripe("pk_sandbox_box", let secret, _) = try await instruction("stripe") else {
            Issue.record("no stripe instruction")
            return
        }
        #expect(secret.wholeMatch(of: /pay_[0-9a-z]{26}_secret_[0-9a-f]{32}/) != nil)
    }

    @Test func `a none contract is paid at once`() async throws {
        let provider = try fixture.provider(["contract": .text("none")])
        let attempt = fixture.attempt()
        for _ in 0..<2 { #expect(try await provider.open(attempt).outcome == .succeeded(cny(3990))) }
        #expect(try await provider.query(fixture.reference(attempt)).outcome == .succeeded(cny(3990)))
    }

    @Test func `one payment id cannot have two amounts`() async throws {
        let provider = try fixture.provider()
        let first = fixture.attempt()
        let second = PaymentAttempt(
            payment: first.payment, order: first.order, amount: cny(1), title: "", platform: .web, returnURL: nil,
            expiresAt: first.expiresAt, accepts: [.url])
        _ = try await provider.open(first)
        await #expect(throws: ProviderError.rejected(reason: "payment_id_reused")) { try await provider.open(second) }
    }

    @Test func `asking for a payment that never arrived closes it`() async throws {
        let provider = try fixture.provider()
        let attempt = fixture.attempt()
        #expect(try await provider.query(fixture.reference(attempt)).outcome == .cancelled)
        await #expect(throws: ProviderError.rejected(reason: "payment_closed")) { try await provider.open(attempt) }
    }

    @Test func `what is not paid in time is closed`() async throws {
        let provider = try fixture.provider()
        let attempt = fixture.attempt()
        _ = try await provider.open(attempt)
        fixture.clock.advance(seconds: 1_799)
        #expect(try await provider.query(fixture.reference(attempt)).outcome == .accepted)
        fixture.clock.advance(seconds: 1)
        guard case .html(let page)? = try await provider.act(attempt.payment, form: ["outcome": "succeed"]) else {
            Issue.record("the page took a payment that has expired")
            return
        }
        #expect(page.contains("expired") && !page.contains("method=\"post\""))
        #expect(try await provider.query(fixture.reference(attempt)).outcome == .cancelled)
        #expect(fixture.transport.requests.isEmpty)
    }

    @Test func `a refund works although nobody played the page`() async throws {
        let provider = try fixture.provider()
        for isOpened in [true, false] {
            let attempt = fixture.attempt()
            if isOpened { _ = try await provider.open(attempt) }
            #expect(try await provider.refund(fixture.refund(attempt, cny(3990))).outcome == .succeeded)
            #expect(try await provider.query(fixture.reference(attempt)).outcome == .succeeded(cny(3990)))
        }
    }

    @Test func `refunds that are refused say why`() async throws {
        let provider = try fixture.provider()
        let attempt = fixture.attempt()
        _ = try await provider.open(attempt)
        let usd = Money(value: 1, currency: try #require(Currency("USD")))
        for (amount, reason) in [
            (cny(3991), "refund_exceeds_payment"), (cny(0), "refund_not_positive"), (cny(-1), "refund_not_positive"),
            (cny(.max), "refund_exceeds_payment"), (usd, "refund_currency_differs"),
        ] {
            await #expect(throws: ProviderError.rejected(reason: reason)) {
                try await provider.refund(fixture.refund(attempt, amount))
            }
        }
        let refund = fixture.refund(attempt, cny(10))
        _ = try await provider.refund(refund)
        let changed = RefundAttempt(refund: refund.refund, payment: refund.payment, amount: cny(11), reason: "")
        await #expect(throws: ProviderError.rejected(reason: "refund_id_reused")) { try await provider.refund(changed) }
    }

    @Test func `one payment has a bounded number of refunds and fits its entry`() async throws {
        let provider = try fixture.provider()
        let attempt = fixture.attempt(title: String(repeating: "é", count: 5_000))
        _ = try await provider.open(attempt)
        for _ in 0..<256 { _ = try await provider.refund(fixture.refund(attempt, cny(1))) }
        await #expect(throws: ProviderError.rejected(reason: "too_many_refunds")) {
            try await provider.refund(fixture.refund(attempt, cny(1)))
        }
        #expect(try #require(await fixture.book.entries[attempt.payment.rawValue]).count < 64 << 10)
    }

    @Test func `of refunds that race for the same money one is made`() async throws {
        let provider = try fixture.provider()
        let attempt = fixture.attempt()
        let refunds = (0..<16).map { _ in fixture.refund(attempt, cny(2_000)) }
        let made = await withTaskGroup(of: Bool.self) { group in
            for refund in refunds {
                group.addTask { (try? await provider.refund(refund)) != nil }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(made == 1)
    }

    @Test func `an entry that cannot be read is left alone`() async throws {
        let provider = try fixture.provider()
        let attempt = fixture.attempt()
        let spoilt = Data("spoilt".utf8)
        _ = try await fixture.book.update(attempt.payment.rawValue) { _ in spoilt }
        await #expect(throws: ProviderError.unavailable) { try await provider.open(attempt) }
        await #expect(throws: ProviderError.unavailable) { try await provider.query(fixture.reference(attempt)) }
        #expect(await fixture.book.entries[attempt.payment.rawValue] == spoilt)
    }

    @Test func `a notification leaves the book as it is`() async throws {
        let provider = try fixture.provider()
        let attempt = fixture.attempt()
        _ = try await provider.open(attempt)
        let json = """
            {"event_id":"e","payment_id":"\(attempt.payment)","type":"payment.succeeded",\
            "amount":{"value":3990,"currency":"CNY"},"occurred_at":1}
            """
        let body = Data(json.utf8)
        let raw = notification(body, [signature(body, at: fixture.clock.now.rawValue)])
        let received = try await provider.receive(raw)
        #expect(received.facts == [.payment(PaymentReport(payment: attempt.payment, outcome: .succeeded(cny(3990))))])
        #expect(try await provider.query(fixture.reference(attempt)).outcome == .accepted)
    }
}
