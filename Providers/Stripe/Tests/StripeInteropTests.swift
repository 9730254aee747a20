import Domain
import Foundation
import Gateway
import ProviderKit
import ProviderTesting
import Store
import StripeProvider
import Synchronization
import TestSupport
import Testing

/// Compares with Stripe's own library for Python, and with an independent server for Stripe's API.
@Suite("Stripe's own library agrees", .serialized, .timeLimit(.minutes(30)))
struct StripeInteropTests {
    private let python = InteropPython(peer: "stripe")

    @Test func `about every header`() async throws {
        let now = Int64(Date().timeIntervalSince1970)
        let rows = StripeHeaderTable.rows(now: now)
        let body = String(decoding: StripeHeaderTable.body, as: UTF8.self)
        let questions = try rows.map { row in
            try JSONSerialization.data(withJSONObject: [
                "header": row.header, "body": body, "secret": StripeFixture.secret,
            ])
        }
        let output = try await python.run("verify.py", input: Data(questions.joined(separator: [0x0A])))
        let verdicts = output.split(separator: "\n").map(String.init)
        try #require(verdicts.count == rows.count)
        let fixture = StripeFixture()
        fixture.clock.advance(seconds: now - fixture.clock.now.rawValue)
        let provider = try fixture.provider()
        for (row, verdict) in zip(rows, verdicts) {
            let raw = FakeStripeServer.notification(StripeHeaderTable.body, [row.header])
            let ours = (try? await provider.receive(raw)) != nil
            #expect(ours == row.isGood, "\(row.name)")
            #expect((verdict == "accept") == (row.isGood || row.isStricter), "\(row.name): the library says \(verdict)")
        }
        let stricter = rows.filter(\.isStricter).map(\.name)
        print("interop: \(rows.count) Stripe-Signature headers, the library agrees; we are stricter about", stricter)
    }

    /// The events of the fake server, and their readings by Stripe's library.
    private static let events: [(mode: String, what: RehearsedEvent.What, reading: String)] = {
        let (refund, money) = (StripeFixture().ids.make(Refund.self), usd(990))
        return [
            ("payment_intent", .paymentSucceeded(money), "payment_intent.succeeded PaymentIntent succeeded"),
            ("payment_intent", .paymentFailed, "payment_intent.payment_failed PaymentIntent requires_payment_method"),
            ("payment_intent", .paymentCancelled, "payment_intent.canceled PaymentIntent canceled"),
            ("payment_intent", .paymentPending, "payment_intent.processing PaymentIntent processing"),
            ("payment_intent", .refundCreated(refund, money), "refund.created Refund pending"),
            ("payment_intent", .refundSucceeded(refund, money), "refund.updated Refund succeeded"),
            ("payment_intent", .refundFailed(refund, money), "refund.failed Refund failed"),
            ("payment_intent", .disputeOpened(money), "charge.dispute.created Dispute needs_response"),
            ("payment_intent", .disputeWon(money), "charge.dispute.closed Dispute won"),
            ("payment_intent", .disputeLost(money), "charge.dispute.closed Dispute lost"),
            ("checkout_session", .paymentSucceeded(money), "checkout.session.completed Session complete"),
            ("checkout_session", .paymentCancelled, "checkout.session.expired Session expired"),
        ]
    }()

    @Test func `about what the stand-in's events say`() async throws {
        let fixture = StripeFixture()
        fixture.clock.advance(seconds: Int64(Date().timeIntervalSince1970) - fixture.clock.now.rawValue)
        var questions: [Data] = []
        for (number, (mode, what, _)) in Self.events.enumerated() {
            let event = RehearsedEvent(
                id: "\(number)",
                payment: ProviderReference(payment: fixture.ids.make(), reference: nil, amount: usd(990)), what: what)
            let raw = try #require(
                try await StripeRehearsal(mode: mode).notification(event, .genuine, in: fixture.context))
            let header = try #require(raw.headers.first { $0.name == "stripe-signature" })
            questions.append(
                try JSONSerialization.data(withJSONObject: [
                    "header": header.value, "body": String(decoding: raw.body, as: UTF8.self),
                    "secret": StripeFixture.secret,
                ]))
        }
        let output = try await python.run("events.py", input: Data(questions.joined(separator: [0x0A])))
        #expect(output.split(separator: "\n").map(String.init) == Self.events.map { "\($0.reading) 990 usd" })
    }

    @Test func `that the stand-in is a Stripe`() async throws {
        let standIn = FakeStripeServer()
        standIn.state.withLock { $0.isSearchable = true }
        let server = try FakeHTTPServer { standIn.answer($0, now: Int64(Date().timeIntervalSince1970)) }
        defer { server.stop() }
        let base = "http://127.0.0.1:\(server.port)"
        let output = try await python.run("client.py", [base, FakeStripeServer.key])
        #expect(output.hasPrefix("accepted "))
        print("interop: the stand-in and Stripe's library:", output.trimmingCharacters(in: .whitespacesAndNewlines))
    }

    /// A payer's card, the result in the payer's process, the order's status and the webhook's events.
    @Test(arguments: TestEngine.allCases)
    func `localstripe takes payments, and its webhooks pay orders`(_ engine: TestEngine) async throws {
        let local = try await LocalStripe.start()
        defer { local.stop() }
        try await withDesk(on: engine) { desk in
            let settings: [String: SettingValue] = [
                "api_base": .text(local.base), "payment_method_types": .list([.text("card")]),
            ]
            let stripe = try StripeGatewayFixture(desk, http: LoopbackTransport(), settings: settings)
            // The signatures of its deliveries have the real time.
            try await desk.pass(seconds: Int64(Date().timeIntervalSince1970) - desk.clock.now.rawValue)
            let hook = try Hook(stripe)
            defer { hook.server.stop() }
            try await local.register(hook.server.port)
            var arrivals = hook.arrivals.makeAsyncIterator()
            for (card, seen, status) in [
                ("good", "succeeded", Order.Status.paid), ("3ds", "succeeded", .paid),
                ("declined", "card_declined", .open),
            ] {
                let contract = try await stripe.checkout(user: card)
                guard case .stripe(_, let secret, _) = contract.instruction else { throw LocalStripe.Failure() }
                let output = try await python.run("pay.py", [local.base, FakeStripeServer.key, secret, card])
                #expect(output == "\(seen)\n")
                #expect(await arrivals.next() == 200)
                #expect(try await stripe.state(contract) == status, "\(card)")
                if status == .paid {
                    let refund = try await stripe.gateway.refunds.request(
                        contract.order.rawValue, amount: GatewayFixture.money(990), reason: "a test", context: .test)
                    #expect(refund.refund.state == .succeeded)
                    #expect(try await stripe.state(contract) == .partiallyRefunded)
                }
            }
            let contract = try await stripe.checkout(user: "nobody")
            try await desk.pass(seconds: 31 * 60)
            let closed = try await stripe.gateway.reconciliation.refresh(
                contract.order.rawValue, user: GatewayFixture.user("nobody"), context: .test)
            #expect(closed.status == .closed)
            #expect(try await desk.payments(contract.order).map(\.payment.state) == [.cancelled])
            print("interop: localstripe, paid by Stripe's library: good, 3-D Secure, declined, refunds, cancel")
        }
    }

    /// Refusals of localstripe name no PaymentIntent, so that it is looked for.
    @Test func `localstripe keeps mandates, charges them and ends them`() async throws {
        let local = try await LocalStripe.start()
        defer { local.stop() }
        let loopback = LoopbackTransport()
        let fixture = StripeFixture { request throws(HTTPTransportError) in try await loopback.send(request) }
        let settings: [String: SettingValue] = [
            "api_base": .text(local.base), "payment_method_types": .list([.text("card")]),
        ]
        let provider = try fixture.provider(settings)
        let subscription: ID<Subscription> = fixture.ids.make()
        func setUp() async throws -> (reference: SetupReference, secret: String) {
            let attempt = SetupAttempt(
                setup: fixture.ids.make(), subscription: subscription, currency: usd(1).currency, title: "Club",
                terms: "39.90 USD each month", platform: .web, returnURL: nil,
                expiresAt: fixture.clock.now.adding(seconds: 3_600), accepts: [.stripe])
            let opened = try await provider.setUp(attempt)
            guard case .stripe(_, let secret, _) = opened.instruction else { throw LocalStripe.Failure() }
            return (
                SetupReference(setup: attempt.setup, subscription: subscription, reference: opened.reference), secret
            )
        }
        for (card, succeeds) in [("good", true), ("declined", false)] {
            let (setup, secret) = try await setUp()
            #expect(try await provider.query(setup: setup).outcome == .pending)
            #expect(try await python.run("give.py", [local.base, FakeStripeServer.key, secret, card]) == "succeeded\n")
            guard case .succeeded(let given) = try await provider.query(setup: setup).outcome else {
                throw LocalStripe.Failure()
            }
            let mandate = MandateReference(
                subscription: subscription, reference: given.reference, customer: given.customer, ownsCustomer: true)
            #expect(try await provider.verify(mandate) == given)
            let charge = MandateCharge(
                payment: fixture.ids.make(), order: fixture.ids.make(), periodIndex: 1, amount: usd(3990),
                title: "Club", mandate: mandate)
            if succeeds {
                #expect(try await provider.charge(charge).outcome == .succeeded(usd(3990)))
            } else {
                await #expect(throws: ProviderError.outcomeUnknown) { try await provider.charge(charge) }
                let intent = try await python.run(
                    "find.py", [local.base, FakeStripeServer.key, charge.payment.rawValue])
                let report = try await provider.query(
                    ProviderReference(
                        payment: charge.payment, reference: intent.trimmingCharacters(in: .whitespacesAndNewlines),
                        amount: usd(3990)))
                #expect(report.outcome == .failed(reason: "card_declined") && report.refusal == .soft)
            }
            // The customer of the first is deleted with its mandate.
            try await provider.revoke(mandate)
            await #expect(throws: ProviderError.rejected(reason: "unknown_mandate")) {
                try await provider.verify(
                    MandateReference(
                        subscription: subscription, reference: "pm_none", customer: nil, ownsCustomer: false))
            }
            try await provider.revoke(mandate)
        }
        let (cancelled, _) = try await setUp()
        #expect(try await provider.cancel(setup: cancelled).outcome == .cancelled)
        print("interop: localstripe: set-up, charges without a payer, their refusal, cancel, a customer's end")
    }

    /// The endpoint to which localstripe delivers.
    private struct Hook {
        let server: FakeHTTPServer
        /// The status of each answer.
        let arrivals: AsyncStream<Int>

        init(_ stripe: StripeGatewayFixture) throws {
            let (arrivals, feed) = AsyncStream.makeStream(of: Int.self)
            self.arrivals = arrivals
            server = try FakeHTTPServer { request in
                let done = DispatchSemaphore(value: 0)
                let status = Mutex(500)
                let raw = RawNotification(method: .post, headers: request.headers, body: request.body)
                Task {
                    let token = GatewayFixture.notifyToken(StripeGatewayFixture.account)
                    let answer = try? await stripe.gateway.notifications.receive(token: token, raw)
                    status.withLock { $0 = answer?.status ?? 400 }
                    done.signal()
                }
                done.wait()
                let code = status.withLock { $0 }
                feed.yield(code)
                return IncomingReply(status: code)
            }
        }
    }
}

/// A run of localstripe with its state in a folder of its own.
private struct LocalStripe {
    struct Failure: Error {}

    let base: String
    private let port: UInt16
    private let program: SpawnedProgram
    private let folder: URL

    static func start() async throws -> LocalStripe {
        let folder = FileManager.default.temporaryDirectory.appending(path: "localstripe-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let port = try FreePort.next()
        let program = try SpawnedProgram(
            ["/usr/bin/env", InteropPython.interpreter, "-m", "localstripe", "--port", "\(port)", "--from-scratch"],
            in: folder.path, name: "localstripe",
            environment: [
                "TMPDIR": folder.path, "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin",
            ])
        for _ in 0..<1_000 {
            if await LoopbackHTTP.send("GET", "/v1/balance", port: port) != nil {
                return LocalStripe(base: "http://127.0.0.1:\(port)", port: port, program: program, folder: folder)
            }
            if program.ended() != nil {
                throw MissingProgram("localstripe for \(InteropPython.interpreter)", program.errors)
            }
            await SpawnedProgram.pause()
        }
        program.send(SIGKILL)
        throw Failure()
    }

    func register(_ hook: UInt16) async throws {
        let form = "url=http://127.0.0.1:\(hook)/&secret=\(StripeFixture.secret)"
        let reply = await LoopbackHTTP.send(
            "POST", "/_config/webhooks/paydesk", port: port,
            headers: ["Content-Type": "application/x-www-form-urlencoded"], body: form)
        guard reply?.status == 200 else { throw Failure() }
    }

    func stop() {
        program.send(SIGKILL)
        try? FileManager.default.removeItem(at: folder)
    }
}
