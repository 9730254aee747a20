import Domain
import Foundation
import ProviderKit
import ProviderTesting
import SandboxProvider
import Testing

struct SandboxPageTests {
    private let fixture = SandboxFixture()

    private func html(_ page: PaymentPage?) throws -> String {
        guard case .html(let html)? = page else { throw ProviderError.unsupported }
        return html
    }

    @Test func `the page shows the order and three buttons`() async throws {
        let provider = try fixture.provider()
        let attempt = fixture.attempt()
        _ = try await provider.open(attempt)
        let page = try html(await provider.page(attempt.payment))
        for part in [
            "¥39.90", "VIP monthly", attempt.order.rawValue, "<html lang=\"en\" data-page=\"sandbox\">",
            "data-amount=\"3990\" data-currency=\"CNY\"", "name=\"viewport\"", "data-lang=\"zh-Hans\"",
            "<form method=\"post\">", "value=\"succeed\"", "value=\"fail\"", "value=\"pending\"",
        ] { #expect(page.contains(part), "\(part) is missing") }
        #expect(
            !page.contains("<script") && !page.contains("style=") && !page.contains("url(")
                && page.hasPrefix("<!DOCTYPE html>"))
    }

    @Test(arguments: [
        (["zh-CN"], "zh-Hans"), (["ZH"], "zh-Hans"), (["fr", "zh-TW", "en"], "zh-Hans"), (["en-GB", "zh"], "en"),
        (["fr"], "en"), ([], "en"),
    ])
    func `the page speaks the visitor's language`(_ languages: [String], _ expected: String) async throws {
        let provider = try fixture.provider()
        let attempt = fixture.attempt()
        _ = try await provider.open(attempt)
        let visitor = PageVisitor(languages: languages)
        let page = try html(await provider.page(attempt.payment, for: visitor))
        #expect(page.contains("<html lang=\"\(expected)\""))
        #expect(page.contains(expected == "en" ? "Pay ¥39.90" : "支付 ¥39.90"))
        let paid = try html(await provider.act(attempt.payment, form: ["outcome": "succeed"], for: visitor))
        #expect(paid.contains(expected == "en" ? "Paid." : "已付款。"))
    }

    @Test func `a hostile title and return address stay text`() async throws {
        let provider = try fixture.provider()
        let attempt = fixture.attempt(
            title: "</title><img src=x onerror='alert(1)'>&\"", returnURL: "https://app.example/?a=\"><script>")
        _ = try await provider.open(attempt)
        _ = try await provider.cancel(fixture.reference(attempt))
        let page = try html(await provider.page(attempt.payment))
        #expect(page.contains("&lt;/title&gt;&lt;img src=x onerror=&#39;alert(1)&#39;&gt;&amp;&quot;"))
        #expect(page.contains("href=\"https://app.example/?a=&quot;&gt;&lt;script&gt;\""))
        #expect(!page.contains("<img") && !page.contains("<script"))
    }

    @Test(
        arguments: [
            ("succeed", "payment.succeeded", .succeeded(cny(3990))),
            ("fail", "payment.failed", .failed(reason: "payer_failed")), ("pending", "payment.pending", .processing),
        ] as [(String, String, PaymentOutcome)])
    func `an act moves the book and sends its signed notification`(
        act: String, type: String, outcome: PaymentOutcome
    ) async throws {
        let provider = try fixture.provider()
        let attempt = fixture.attempt(returnURL: "https://app.example/done")
        _ = try await provider.open(attempt)
        let page = try await provider.act(attempt.payment, form: ["outcome": act])
        #expect(page == .redirect("https://app.example/done"))
        // A query about a payment in processing only states that it is not paid yet.
        let asked = outcome == .processing ? .accepted : outcome
        #expect(try await provider.query(fixture.reference(attempt)).outcome == asked)
        let sent = try #require(fixture.transport.requests.first)
        #expect(sent.method == "POST" && sent.url == "https://pay.example/v1/notify/box")
        let raw = RawNotification(method: .post, headers: sent.headers, body: sent.body)
        let received = try await provider.receive(raw)
        #expect(received.type == type)
        #expect(received.facts == [.payment(PaymentReport(payment: attempt.payment, outcome: outcome))])
        #expect(received.eventID.hasPrefix("\(attempt.payment)-\(act)-"))
    }

    @Test func `without a return address the payer gets a page`() async throws {
        let provider = try fixture.provider()
        let attempt = fixture.attempt()
        _ = try await provider.open(attempt)
        let page = try html(await provider.act(attempt.payment, form: ["outcome": "succeed"]))
        #expect(page.contains("Paid.") && !page.contains("method=\"post\""))
    }

    @Test func `paying twice sends the same event twice and failing afterwards sends nothing`() async throws {
        let provider = try fixture.provider()
        let attempt = fixture.attempt()
        _ = try await provider.open(attempt)
        for act in ["succeed", "succeed", "fail"] {
            _ = try await provider.act(attempt.payment, form: ["outcome": act])
        }
        let bodies = fixture.transport.requests.map(\.body)
        #expect(bodies.count == 2 && bodies.first == bodies.last)
        #expect(try await provider.query(fixture.reference(attempt)).outcome == .succeeded(cny(3990)))
    }

    @Test func `two payments left pending are two events`() async throws {
        let provider = try fixture.provider()
        let attempt = fixture.attempt()
        _ = try await provider.open(attempt)
        for _ in 0..<2 { _ = try await provider.act(attempt.payment, form: ["outcome": "pending"]) }
        #expect(Set(fixture.transport.requests.map(\.body)).count == 2)
    }

    @Test func `of acts that race one wins and its event is the only one`() async throws {
        let provider = try fixture.provider()
        let attempt = fixture.attempt()
        _ = try await provider.open(attempt)
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<16 {
                group.addTask {
                    _ = try? await provider.act(
                        attempt.payment, form: ["outcome": index.isMultiple(of: 2) ? "succeed" : "fail"])
                }
            }
        }
        #expect(Set(fixture.transport.requests.map(\.body)).count == 1)
    }

    @Test func `a notification that cannot be delivered does not trouble the payer`() async throws {
        let fixture = SandboxFixture { _ throws(HTTPTransportError) in throw .notSent }
        let provider = try fixture.provider()
        let attempt = fixture.attempt(returnURL: "https://app.example/done")
        _ = try await provider.open(attempt)
        let page = try await provider.act(attempt.payment, form: ["outcome": "succeed"])
        #expect(page == .redirect("https://app.example/done"))
        #expect(try await provider.query(fixture.reference(attempt)).outcome == .succeeded(cny(3990)))
    }

    @Test(arguments: [[:], ["outcome": ""], ["outcome": "Succeed"], ["act": "succeed"]] as [[String: String]])
    func `another form is refused and changes nothing`(form: [String: String]) async throws {
        let provider = try fixture.provider()
        let attempt = fixture.attempt()
        _ = try await provider.open(attempt)
        guard case .refused? = try await provider.act(attempt.payment, form: form) else {
            Issue.record("the form was taken")
            return
        }
        #expect(try await provider.query(fixture.reference(attempt)).outcome == .accepted)
        #expect(fixture.transport.requests.isEmpty)
    }

    @Test func `a cancelled payment says so and takes no act`() async throws {
        let provider = try fixture.provider()
        let attempt = fixture.attempt(returnURL: "https://app.example/done")
        _ = try await provider.open(attempt)
        _ = try await provider.cancel(fixture.reference(attempt))
        for act in ["succeed", "fail", "pending"] {
            let page = try html(await provider.act(attempt.payment, form: ["outcome": act]))
            #expect(page.contains("cancelled") && !page.contains("method=\"post\""))
        }
        #expect(fixture.transport.requests.isEmpty)
        #expect(try await provider.query(fixture.reference(attempt)).outcome == .cancelled)
    }

    @Test func `the page works while the service plays trouble`() async throws {
        let attempt = fixture.attempt()
        _ = try await fixture.provider().open(attempt)
        let provider = try fixture.provider(["reply": .text("error")])
        #expect(try html(await provider.page(attempt.payment)).contains("39.90"))
        #expect(try html(await provider.act(attempt.payment, form: ["outcome": "succeed"])).contains("Paid."))
    }
}
