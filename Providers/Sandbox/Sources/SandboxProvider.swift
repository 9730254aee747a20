public import Domain
import FoundationEssentials
public import ProviderKit

/// The provider for development: it simulates its own payment service, with every contract type and many faults.
///
/// The simulated service stores its state in `context.book`, so it survives a restart. Its notifications are signed and
/// sent over HTTP to the account's own notify URL, like a real provider's. A notification is only converted to facts
/// and does not change the book, except that a failed refund makes its amount available again.
public struct SandboxProvider: SetupPageServing {
    public static let manifest = ProviderManifest(
        kind: "sandbox", displayName: "Sandbox", contractTypes: [.stripe, .url, .qr, .none], mandates: true,
        cancel: .definite, refunds: .partial, notifications: [.post], instruments: [.encrypted, .decrypted],
        developmentOnly: true,
        followsBusinessTime: true,
        settings: SandboxSettings.schema)

    /// Returns true, because no real money moves.
    public static func isTest(_ settings: ProviderSettings) -> Bool { true }

    private let account: AccountID
    let context: ProviderContext
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
        return OpenedPayment(
            instruction: instruction(attempt.payment.rawValue), reference: nil, outcome: payment.outcome)
    }

    public func query(_ payment: ProviderReference) async throws(ProviderError) -> PaymentReport {
        try await call(losesReplies: false) { () async throws(ProviderError) in
            report(payment.payment, try await upstream.settled(payment))
        }
    }

    public func cancel(_ payment: ProviderReference) async throws(ProviderError) -> PaymentReport {
        try await call { () async throws(ProviderError) in
            report(payment.payment, try await upstream.cancel(payment))
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
        var facts: [ProviderFact] = []
        for fact in received.facts { facts.append(try await completed(fact)) }
        return ReceivedNotification(
            eventID: received.eventID, type: received.type, facts: facts, acknowledgement: received.acknowledgement)
    }

    /// Adds to a fact what only the book has: the mandate of a success, the outcome of a set-up.
    private func completed(_ fact: ProviderFact) async throws(ProviderError) -> ProviderFact {
        switch fact {
        case .payment(let told):
            guard let stored = try await upstream.payment(told.payment) else { return fact }
            var mandate: ProviderMandate?
            if case .succeeded = told.outcome { mandate = stored.mandate?.mandate(leftBy: told.payment.rawValue) }
            return .payment(
                PaymentReport(
                    payment: told.payment, outcome: told.outcome, reference: told.reference, mandate: mandate,
                    refusal: stored.refusal))
        case .setup(let told):
            guard let stored = try await upstream.entry(told.setup.rawValue) else { return fact }
            return .setup(report(told.setup, stored))
        case .refund, .dispute, .store, .mandate, .externalToken, .consent: return fact
        }
    }

    private func report(_ id: ID<Payment>, _ stored: SandboxPayment) -> PaymentReport {
        let isWorking = stored.isCharge == true && stored.status == .pending
        let mandate = stored.status == .succeeded ? stored.mandate?.mandate(leftBy: id.rawValue) : nil
        return PaymentReport(
            payment: id, outcome: isWorking ? .processing : stored.outcome, mandate: mandate, refusal: stored.refusal)
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

    /// - Parameter id: of a payment or of a set-up.
    func instruction(_ id: String) -> PaymentInstruction {
        let page = context.pageURL(kind: Self.manifest.kind, id: id)
        switch settings.contract {
        case .stripe:
            return .stripe(
                publishableKey: "pk_sandbox_\(account.rawValue)",
                clientSecret: "\(id)_secret_\(signature.clientSecret(id))")
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
        try await page(payment.rawValue, visitor)
    }

    public func act(
        _ payment: ID<Payment>, form: [String: String], for visitor: PageVisitor
    ) async throws(ProviderError) -> PaymentPage? {
        try await act(payment.rawValue, form, visitor)
    }

    public func page(setup: ID<Setup>, for visitor: PageVisitor) async throws(ProviderError) -> PaymentPage? {
        try await page(setup.rawValue, visitor)
    }

    public func act(
        setup: ID<Setup>, form: [String: String], for visitor: PageVisitor
    ) async throws(ProviderError) -> PaymentPage? {
        try await act(setup.rawValue, form, visitor)
    }

    private func page(_ id: String, _ visitor: PageVisitor) async throws(ProviderError) -> PaymentPage? {
        guard let known = try await upstream.entry(id), known.isCharge != true else { return nil }
        return try await html(id, known, visitor)
    }

    private func act(
        _ id: String, _ form: [String: String], _ visitor: PageVisitor
    ) async throws(ProviderError) -> PaymentPage? {
        guard let known = try await upstream.entry(id), known.isCharge != true else { return nil }
        guard let act = form["outcome"].flatMap(SandboxPayerAct.init) else {
            return .refused("The form needs the field outcome: succeed, fail or pending.")
        }
        guard let fields = SandboxMandateForm(form) else {
            return .refused("The field renewals is not one of the words that it can be.")
        }
        if known.mandate != nil, act == .succeed, form["terms"] ?? "" == "" {
            return .refused("The payer has to agree to the terms.")
        }
        let nonce = Hex.encoded(context.random.bytes(8))
        let event = SandboxPayment.Event(id: "\(id)-\(act.rawValue)-\(nonce)", at: context.businessTime.now)
        guard let after = try await upstream.act(id, act, event, form: fields) else { return nil }
        guard let announced = after.announces(act, event, now: context.businessTime.now) else {
            return try await html(id, after, visitor)
        }
        await notify(after.notification(id, act, announced))
        if let address = after.returnURL { return .redirect(address) }
        return try await html(id, after, visitor)
    }

    private func html(
        _ id: String, _ payment: SandboxPayment, _ visitor: PageVisitor
    ) async throws(ProviderError) -> PaymentPage {
        var page = SandboxPage(id, payment, now: context.businessTime.now, for: visitor)
        if let mandate = payment.mandate {
            page.hasAgreed = try await !upstream.agreement(of: mandate.subscription).mandates.isEmpty
        }
        return .html(page.html)
    }

    /// Sends the signed notification; it is not repeated where it does not arrive, because a query returns the state
    /// later.
    func notify(_ notification: SandboxEvent) async {
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
