package import Domain
package import ProviderKit
import SandboxProvider
import Synchronization

/// A failure on the way to the sandbox's payment service.
package enum FaultInjection: Sendable {
    /// The call has no effect, and the caller knows it.
    case unavailable
    /// The call has its effect, but the answer never arrives.
    case lostReply
    /// The service refuses the call.
    case refused
    /// The provider does not support the call any more.
    case unsupported
}

/// Records the calls to a desk's sandbox accounts, and sets the failures of the next ones.
package final class SandboxFaults: Sendable {
    package enum Operation: String, Sendable {
        case open, query, cancel, refund, queryRefund, charge, setUp, chargeMandate, revoke
    }

    private struct Place: Hashable {
        let operation: Operation
        /// nil means every account.
        let account: String?
    }

    private struct State {
        var calls: [Place] = []
        var troubles: [Place: FaultInjection] = [:]
        var holds: [Place: @Sendable () async -> Void] = [:]
        var charges: [InstrumentCharge] = []
    }

    private let state = Mutex(State())

    package init() {}

    /// Makes calls of an operation fail, at one account or at all, until nil ends it.
    package func set(_ operation: Operation, _ trouble: FaultInjection?, at account: String? = nil) {
        state.withLock { $0.troubles[Place(operation: operation, account: account)] = trouble }
    }

    /// Sets a closure that every call of an operation at the account runs before it continues; nil removes it.
    package func hold(_ operation: Operation, at account: String, _ hold: (@Sendable () async -> Void)?) {
        state.withLock { $0.holds[Place(operation: operation, account: account)] = hold }
    }

    /// The number of calls of an operation, at one account or at all.
    package func count(_ operation: Operation, at account: String? = nil) -> Int {
        state.withLock { state in
            state.calls.count { $0.operation == operation && (account == nil || $0.account == account) }
        }
    }

    /// The charges that the accounts were asked for.
    package var charges: [InstrumentCharge] { state.withLock { $0.charges } }

    fileprivate func keep(_ charge: InstrumentCharge) { state.withLock { $0.charges.append(charge) } }

    private func begin(_ operation: Operation, _ account: String) async -> FaultInjection? {
        let place = Place(operation: operation, account: account)
        let hold = state.withLock { state in
            state.calls.append(place)
            return state.holds[place]
        }
        await hold?()
        return state.withLock { $0.troubles[place] ?? $0.troubles[Place(operation: operation, account: nil)] }
    }

    func call<Answer: Sendable>(
        _ operation: Operation, _ account: String, _ work: () async throws(ProviderError) -> Answer
    ) async throws(ProviderError) -> Answer {
        switch await begin(operation, account) {
        case nil: return try await work()
        case .unavailable: throw .unavailable
        case .refused: throw .rejected(reason: "refused_by_test")
        case .unsupported: throw .unsupported
        case .lostReply:
            _ = try await work()
            throw .outcomeUnknown
        }
    }
}

/// The real sandbox provider, whose calls a ``SandboxFaults`` can disturb.
package struct FaultySandbox: PaymentPageServing, InstrumentCharging {
    package static let manifest = SandboxProvider.manifest

    let sandbox: SandboxProvider
    let line: SandboxFaults
    let account: String

    package init(account: ProviderAccount, context: ProviderContext) throws(ProviderSetupError) {
        try self.init(account: account, context: context, line: SandboxFaults())
    }

    package init(
        account: ProviderAccount, context: ProviderContext, line: SandboxFaults
    ) throws(ProviderSetupError) {
        sandbox = try SandboxProvider(account: account, context: context)
        self.line = line
        self.account = account.id.rawValue
    }

    package var contractTypes: Set<ContractType> { sandbox.contractTypes }

    package func open(_ attempt: PaymentAttempt) async throws(ProviderError) -> OpenedPayment {
        try await line.call(.open, account) { () async throws(ProviderError) in try await sandbox.open(attempt) }
    }

    package func charge(_ charge: InstrumentCharge) async throws(ProviderError) -> PaymentReport {
        line.keep(charge)
        return try await line.call(.charge, account) { () async throws(ProviderError) in
            try await sandbox.charge(charge)
        }
    }

    package func query(_ payment: ProviderReference) async throws(ProviderError) -> PaymentReport {
        try await line.call(.query, account) { () async throws(ProviderError) in try await sandbox.query(payment) }
    }

    package func cancel(_ payment: ProviderReference) async throws(ProviderError) -> PaymentReport {
        try await line.call(.cancel, account) { () async throws(ProviderError) in try await sandbox.cancel(payment) }
    }

    package func refund(_ refund: RefundAttempt) async throws(ProviderError) -> RefundReport {
        try await line.call(.refund, account) { () async throws(ProviderError) in try await sandbox.refund(refund) }
    }

    package func query(refund: RefundAttempt) async throws(ProviderError) -> RefundReport {
        try await line.call(.queryRefund, account) { () async throws(ProviderError) in
            try await sandbox.query(refund: refund)
        }
    }

    package func receive(_ notification: RawNotification) async throws(ProviderError) -> ReceivedNotification {
        try await sandbox.receive(notification)
    }

    package func page(_ payment: ID<Payment>) async throws(ProviderError) -> PaymentPage? {
        try await sandbox.page(payment)
    }

    package func act(_ payment: ID<Payment>, form: [String: String]) async throws(ProviderError) -> PaymentPage? {
        try await sandbox.act(payment, form: form)
    }

    package func page(_ payment: ID<Payment>, for visitor: PageVisitor) async throws(ProviderError) -> PaymentPage? {
        try await sandbox.page(payment, for: visitor)
    }

    package func act(
        _ payment: ID<Payment>, form: [String: String], for visitor: PageVisitor
    ) async throws(ProviderError) -> PaymentPage? {
        try await sandbox.act(payment, form: form, for: visitor)
    }
}
