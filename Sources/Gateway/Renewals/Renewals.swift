import Domain
import Logging
import ProviderKit
import Store

/// Renews managed subscriptions: takes the step that is due, and makes the charge that it intends.
struct Renewals: Sendable {
    let settlements: SettlementRunner
    let attempts: PaymentAttempts
    let meter: RenewalMeter
    let logger: Logger

    /// The most steps of one run; each charge that fails at once may bring another one.
    private static let steps = 20

    private var providers: ProviderCalling { settlements.providers }

    /// Takes the steps of a subscription that are due.
    func act(_ job: ClaimedJob) async throws(GatewayError) -> JobOutcome {
        guard let id = ID<Subscription>(job.subject) else { return .done }
        for _ in 0..<Self.steps {
            let step = try await settlements.run(job.audit) { settlement in try settlement.managed.step(id) }
            switch step {
            case .done: return .done
            case .lapsed:
                meter.count(.lapsed)
                return .done
            case .later: return .again(after: 1)
            case .waitForAccount:
                logger.warning(
                    "a subscription cannot be renewed, because its account is not configured",
                    metadata: ["subscription": "\(id)"])
                return .pending
            case .withdraw(let order):
                let cancelled = try await attempts.cancel(of: order, audit: job.audit)
                guard !cancelled.allAnswered else { continue }
                let reason = try await settlements.run(job.audit) { settlement in try settlement.managed.giveUp(id) }
                if reason == .lapsed { meter.count(.lapsed) }
                return reason == nil ? .pending : .done
            case .charge(let intent):
                guard try await charge(intent, audit: job.audit) else { return .pending }
            }
        }
        return .pending
    }

    /// Sends the notice of a renewal.
    func announce(_ job: ClaimedJob) async throws(GatewayError) -> JobOutcome {
        guard let id = ID<Subscription>(job.subject) else { return .done }
        try await settlements.run(job.audit) { settlement in try settlement.managed.announce(id) }
        return .done
    }

    /// Makes a charge whose intent is durable, and records its outcome.
    ///
    /// - Returns: false where nothing happened, so that the same charge is made again later.
    private func charge(_ intent: ChargeIntent, audit: AuditContext) async throws(GatewayError) -> Bool {
        guard let account = providers.registry[intent.account] else {
            logger.warning(
                "a subscription cannot be renewed, because its account is not configured",
                metadata: ["account": "\(intent.account)", "payment": "\(intent.payment)"])
            return false
        }
        let charge: MandateCharge
        do {
            charge = MandateCharge(
                payment: intent.payment, order: intent.order.id, periodIndex: intent.periodIndex,
                amount: intent.amount, title: intent.order.title,
                mandate: try settlements.billing.secrets.open(intent.mandate))
        } catch {
            logger.error(
                "a mandate cannot be opened with the keys of secrets.keys",
                metadata: ["mandate": "\(intent.mandate.id)"])
            return false
        }
        return try await providers.complete { () async throws(GatewayError) in
            try await callAndRecord(charge, account, audit: audit)
        }
    }

    private func callAndRecord(
        _ charge: MandateCharge, _ account: ConfiguredAccount, audit: AuditContext
    ) async throws(GatewayError) -> Bool {
        let report: PaymentReport
        do throws(ProviderError) {
            report = try await providers.client(of: account).charge(charge)
        } catch {
            switch error {
            case .unavailable:
                meter.count(.unavailable)
                return false
            case .outcomeUnknown, .unproven:
                meter.count(.unknown)
                try await settlements.run(audit) { try $0.payments.markUnknown(charge.payment) }
                return true
            case .rejected(let reason), .unfit(let reason):
                report = PaymentReport(
                    payment: charge.payment, outcome: .failed(reason: reason), refusal: .soft)
            case .unsupported:
                report = PaymentReport(
                    payment: charge.payment, outcome: .failed(reason: "unsupported"), refusal: .hard)
            }
        }
        meter.count(RenewalMeter.Outcome(report))
        _ = try await settlements.run(audit) { try $0.apply(.payment(report), from: account.id) }
        return true
    }
}
