public import Domain
import FoundationEssentials
public import ProviderKit

/// The provider for development: it simulates its own payment service, with every contract type and many faults.
///
/// The simulated service stores its state in `context.book`, so it survives a restart. Its notifications are signed and
/// sent over HTTP to the account's own notify URL, like a real provider's. A notification is only converted to facts
/// and does not change the book, except that a failed refund makes its amount available again.
public struct SandboxProvider: PaymentPageServing {
    public static let manifest = ProviderManifest(
        kind: "sandbox", displayName: "Sandbox", contractTypes: [.stripe, .url, .qr, .none], cancel: .definite,
        refunds: .partial, notifications: [.post], instruments: [.encrypted, .decrypted], developmentOnly: true,
        followsBusinessTime: true,
        settings: SandboxSettings.schema)

    /// Returns true, because no real money moves.
    public static func isTest(_ settings: ProviderSettings) -> Bool { true }

    private let account: AccountID
    private let context: ProviderContext
    private let settings: SandboxSettings
    private let signature: SandboxSignature
    let upstream: SandboxUpstream
    private let sleep: @Sendable (Duration) async throws -> Void

    public init(account: ProviderAccount, context: ProviderContext) throws(ProviderSetupError) {
        try self.init(account: account, context: context) { try await Task.sleep(for: $0) }
    }

    /// - Parameter sleep: waits for the configured delay; tests do not wait.
    ///   wait.
    package init(
        account: ProviderAccount, context: ProviderContext, sleep: @escaping @Sendable (Duration) async throws -> Void
    ) throws(ProviderSetupError) {
        settings = try SandboxSettings(account)
        signature = SandboxSignature(secret: account.settings.text("secret"))
        self.account = account.id
        self.context = context
        self.sleep = sleep
        upstream = SandboxUpstream(book: context.book, time: context.businessTime)
    }

    public var contractTypes: Set<ContractType> { [settings.contract] }

    public func open(_ attempt: PaymentAttempt) async throws(ProviderError) -> OpenedPayment {
        let paidAtOnce = settings.contract == .none
        let payment = try await call { () async throws(ProviderError) in
            try await upstream.open(attempt, paidAtOnce: paidAtOnce)
        }
        return OpenedPayment(instruction: instruction(attempt.payment), reference: nil, outcome: payment.outcome)
    }

    public func query(_ payment: ProviderReference) async throws(ProviderError) -> PaymentReport {
        try await call(losesReplies: false) { () async throws(ProviderError) in
            PaymentReport(payment: payment.payment, outcome: try await upstream.settled(payment).outcome)
        }
    }

    public func cancel(_ payment: ProviderReference) async throws(ProviderError) -> PaymentReport {
        try await call { () async throws(ProviderError) in
            PaymentReport(payment: payment.payment, outcome: try await upstream.cancel(payment).outcome)
        }
    }

    public func refund(_ refund: RefundAttempt) async throws(ProviderError) -> RefundReport {
        try await call { () async throws(ProviderError) in report(refund, try await upstream.refund(refund)) }
    }

    public func query(refund: RefundAttempt) async throws(ProviderError) -> RefundReport {
        try await call(losesReplies: false) { () async throws(ProviderError) in
            report(refund, try await upstream.settled(refund: refund))
        }
    }

    public func receive(_ notification: RawNotification) async throws(ProviderError) -> ReceivedNotification {
        try signature.verify(notification, now: notification.receivedAt ?? context.time.now)
        let received = try SandboxEvent(notification.body).received()
        for case .refund(let report) in received.facts {
            guard let refund = report.refund, case .failed = report.outcome else { continue }
            try await upstream.bounce(refund, of: report.payment)
        }
        return received
    }

    /// Calls the simulated service, with the configured delay and reply.
    func call<Answer: Sendable>(
        losesReplies: Bool = true, _ work: () async throws(ProviderError) -> Answer
    ) async throws(ProviderError) -> Answer {
        if settings.delay > .zero {
            do { try await sleep(settings.delay) } catch { throw .unavailable }
        }
        guard settings.reply != .error else { throw .unavailable }
        guard losesReplies, settings.reply == .lost else { return try await work() }
        // A refusal is lost like any other answer.
        _ = try? await work()
        throw .outcomeUnknown
    }

    private func instruction(_ payment: ID<Payment>) -> PaymentInstruction {
        let page = context.pageURL(kind: Self.manifest.kind, payment: payment)
        switch settings.contract {
        case .stripe:
            return .stripe(
                publishableKey: "pk_sandbox_\(account.rawValue)",
                clientSecret: "\(payment.rawValue)_secret_\(signature.clientSecret(payment))")
        case .qr: return .qr(text: page)
        case .none: return .none
        default: return .url(checkoutURL: page)
        }
    }

    private func report(_ attempt: RefundAttempt, _ refund: SandboxPayment.Refund) -> RefundReport {
        RefundReport(
            payment: attempt.payment.payment, refund: attempt.refund, outcome: refund.outcome, amount: refund.amount)
    }
}

/// The pay page ignores `reply` and `delay_ms`, which only apply to Paydesk's calls, not to the payer's.
extension SandboxProvider {
    public func page(_ payment: ID<Payment>) async throws(ProviderError) -> PaymentPage? {
        try await page(payment, for: PageVisitor())
    }

    public func act(_ payment: ID<Payment>, form: [String: String]) async throws(ProviderError) -> PaymentPage? {
        try await act(payment, form: form, for: PageVisitor())
    }

    public func page(_ payment: ID<Payment>, for visitor: PageVisitor) async throws(ProviderError) -> PaymentPage? {
        try await upstream.payment(payment).map { html(payment, $0, visitor) }
    }

    public func act(
        _ payment: ID<Payment>, form: [String: String], for visitor: PageVisitor
    ) async throws(ProviderError) -> PaymentPage? {
        guard try await upstream.payment(payment) != nil else { return nil }
        guard let act = form["outcome"].flatMap(SandboxPayerAct.init) else {
            return .refused("The form needs the field outcome: succeed, fail or pending.")
        }
        let nonce = Hex.encoded(context.random.bytes(8))
        let event = SandboxPayment.Event(
            id: "\(payment.rawValue)-\(act.rawValue)-\(nonce)", at: context.businessTime.now)
        guard let after = try await upstream.act(payment, act, event) else { return nil }
        guard let announced = after.announces(act, event, now: context.businessTime.now) else {
            return html(payment, after, visitor)
        }
        await notify(payment, after, act, announced)
        return after.returnURL.map(PaymentPage.redirect) ?? html(payment, after, visitor)
    }

    private func html(_ id: ID<Payment>, _ payment: SandboxPayment, _ visitor: PageVisitor) -> PaymentPage {
        .html(SandboxPage(id, payment, now: context.businessTime.now, for: visitor).html)
    }

    /// Sends the signed notification; it is not repeated where it does not arrive, because a query returns the state
    /// later.
    private func notify(
        _ payment: ID<Payment>, _ record: SandboxPayment, _ act: SandboxPayerAct, _ event: SandboxPayment.Event
    ) async {
        let notification = SandboxEvent(
            event_id: event.id, payment_id: payment.rawValue, type: act.eventType, amount: record.amount,
            refund_id: nil,
            occurred_at: event.at.rawValue)
        guard let body = notification.json else { return }
        let headers = [
            ("content-type", "application/json"),
            (SandboxSignature.header, signature.sign(body, at: context.time.now)),
        ].map { (name: $0.0, value: $0.1) }
        _ = try? await context.http.send(
            OutgoingRequest(
                method: "POST", url: context.notifyURL, headers: headers, body: body, timeoutMilliseconds: 10_000,
                maxReplyBytes: 64 << 10))
    }
}
