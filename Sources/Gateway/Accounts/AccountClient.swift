import Domain
import FoundationEssentials
import Logging
import ProviderKit

/// An account's provider behind the bound on its calls; the end of each call counts for the account's health.
struct AccountClient: Sendable {
    let account: ConfiguredAccount
    let load: AccountLoad
    let logger: Logger

    /// Opens a payment.
    ///
    /// - Parameter insists: true makes the call although the account's health is doubted.
    /// - Returns: nil when the call was not made, so that the provider does not know the payment.
    func open(_ attempt: PaymentAttempt, insists: Bool) async throws(ProviderError) -> OpenedPayment? {
        try await call(.opening(insists: insists), of: attempt.payment) { () async throws(ProviderError) in
            try await account.provider.open(attempt)
        }
    }

    /// Charges a wallet's token, which is how this account opens a payment; the call is made whatever the account's
    /// health.
    func charge(_ charge: InstrumentCharge) async throws(ProviderError) -> PaymentReport {
        guard let provider = account.provider as? any InstrumentCharging else { throw .unsupported }
        let report = try await call(.opening(insists: true), of: charge.payment) { () async throws(ProviderError) in
            try await provider.charge(charge)
        }
        guard let report else { throw .unavailable }
        return report
    }

    /// Charges a mandate; the call is made whatever the account's health.
    func charge(_ charge: MandateCharge) async throws(ProviderError) -> PaymentReport {
        guard let provider = account.provider as? any MandateCharging else { throw .unsupported }
        let report = try await call(.opening(insists: true), of: charge.payment) { () async throws(ProviderError) in
            try await provider.charge(charge)
        }
        guard let report else { throw .unavailable }
        guard report.payment == charge.payment else { throw .outcomeUnknown }
        return report
    }

    /// Calls an account that charges mandates about one of them.
    ///
    /// - Throws: `unavailable` also where the account already has its limit of calls under way.
    func withMandates<Answer: Sendable>(
        _ work: (any MandateCharging) async throws(ProviderError) -> Answer
    ) async throws(ProviderError) -> Answer {
        guard let provider = account.provider as? any MandateCharging else { throw .unsupported }
        let answer = try await call(.other, of: nil) { () async throws(ProviderError) in try await work(provider) }
        guard let answer else { throw .unavailable }
        return answer
    }

    /// Asks for an Apple Pay merchant session.
    ///
    /// - Returns: nil where the account already has its limit of calls under way.
    func merchantSession(_ provider: any MerchantSessionIssuing) async throws(ProviderError) -> Data? {
        try await call(.other, of: nil) { () async throws(ProviderError) in try await provider.merchantSession() }
    }

    func query(_ payment: ProviderReference) async throws(ProviderError) -> PaymentReport {
        try await made(payment.payment) { () async throws(ProviderError) in try await account.provider.query(payment) }
    }

    func cancel(_ payment: ProviderReference) async throws(ProviderError) -> PaymentReport {
        try await made(payment.payment) { () async throws(ProviderError) in try await account.provider.cancel(payment) }
    }

    func refund(_ refund: RefundAttempt) async throws(ProviderError) -> RefundReport {
        try await made(refund.payment.payment) { () async throws(ProviderError) in
            try await account.provider.refund(refund)
        }
    }

    func query(refund: RefundAttempt) async throws(ProviderError) -> RefundReport {
        try await made(refund.payment.payment) { () async throws(ProviderError) in
            try await account.provider.query(refund: refund)
        }
    }

    /// Makes a call that must reach the provider.
    ///
    /// - Throws: `unavailable` also where the account already has its limit of calls under way; then nothing was sent.
    private func made<Answer: Sendable>(
        _ payment: ID<Payment>, _ work: () async throws(ProviderError) -> Answer
    ) async throws(ProviderError) -> Answer {
        guard let answer = try await call(.other, of: payment, work) else { throw .unavailable }
        return answer
    }

    private func call<Answer: Sendable>(
        _ purpose: AccountLoad.Purpose, of payment: ID<Payment>?, _ work: () async throws(ProviderError) -> Answer
    ) async throws(ProviderError) -> Answer? {
        guard let call = load.begin(account.id, purpose) else { return nil }
        let start = ContinuousClock.now
        defer { load.measure(account.id, since: start) }
        do throws(ProviderError) {
            let answer = try await work()
            load.end(account.id, call, .answered)
            return answer
        } catch {
            load.end(account.id, call, CircuitBreaker.Ending(error))
            if case .unproven(let reason) = error { logUnproven(reason, payment) }
            throw error
        }
    }
}

extension AccountClient {
    /// Logs the reason why an answer is not accepted.
    private func logUnproven(_ reason: UnprovenReason, _ payment: ID<Payment>?) {
        var metadata: Logger.Metadata = ["account": "\(account.id.rawValue)", "reason": "\(reason.word)"]
        metadata["payment"] = payment.map { "\($0)" }
        logger.warning("a provider's answer is not believed", metadata: metadata)
    }
}

extension CircuitBreaker.Ending {
    /// Counts a refusal as an answer: the provider works.
    init(_ error: ProviderError) {
        switch error {
        case .rejected: self = .answered
        case .unavailable, .outcomeUnknown, .unproven: self = .failed
        case .unsupported, .unfit: self = .unused
        }
    }
}
