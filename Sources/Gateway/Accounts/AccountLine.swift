import Domain
import FoundationEssentials
import Logging
import ProviderKit

/// An account's provider behind the bound on its calls; how each ends tells of the account's health.
struct AccountLine: Sendable {
    let account: ConfiguredAccount
    let traffic: AccountTraffic
    let logger: Logger

    /// - Returns: nil when the call was not made, so that the provider has not heard of the payment.
    func open(_ attempt: PaymentAttempt, insists: Bool) async throws(ProviderError) -> OpenedPayment? {
        try await call(.opening(insists: insists), of: attempt.payment) { () async throws(ProviderError) in
            try await account.provider.open(attempt)
        }
    }

    /// Charges a wallet's token: how this account opens a payment, whatever is believed of its health.
    func charge(_ charge: InstrumentCharge) async throws(ProviderError) -> PaymentReport {
        guard let provider = account.provider as? any InstrumentCharging else { throw .unsupported }
        let report = try await call(.opening(insists: true), of: charge.payment) { () async throws(ProviderError) in
            try await provider.charge(charge)
        }
        guard let report else { throw .unavailable }
        return report
    }

    /// - Returns: nil when there was no room for the call.
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

    /// A call for which there is no room has not been made: nothing has happened.
    private func made<Answer: Sendable>(
        _ payment: ID<Payment>, _ work: () async throws(ProviderError) -> Answer
    ) async throws(ProviderError) -> Answer {
        guard let answer = try await call(.other, of: payment, work) else { throw .unavailable }
        return answer
    }

    private func call<Answer: Sendable>(
        _ purpose: AccountTraffic.Purpose, of payment: ID<Payment>?, _ work: () async throws(ProviderError) -> Answer
    ) async throws(ProviderError) -> Answer? {
        guard let call = traffic.begin(account.id, purpose) else { return nil }
        do throws(ProviderError) {
            let answer = try await work()
            traffic.end(account.id, call, .answered)
            return answer
        } catch {
            traffic.end(account.id, call, CircuitBreaker.Ending(error))
            if case .unproven(let reason) = error { tell(reason, payment) }
            throw error
        }
    }
}

extension AccountLine {
    /// Writes down why an answer is not believed.
    private func tell(_ reason: UnprovenReason, _ payment: ID<Payment>?) {
        var metadata: Logger.Metadata = ["account": "\(account.id.rawValue)", "reason": "\(reason.word)"]
        metadata["payment"] = payment.map { "\($0)" }
        logger.warning("a provider's answer is not believed", metadata: metadata)
    }
}

extension CircuitBreaker.Ending {
    /// A provider that says no is well.
    init(_ error: ProviderError) {
        switch error {
        case .rejected: self = .answered
        case .unavailable, .outcomeUnknown, .unproven: self = .failed
        case .unsupported, .unfit: self = .unused
        }
    }
}

extension Gateway {
    func line(_ account: ConfiguredAccount) -> AccountLine {
        AccountLine(account: account, traffic: traffic, logger: logger)
    }
}
