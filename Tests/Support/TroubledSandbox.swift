package import Domain
package import ProviderKit
import SandboxProvider
import Synchronization

/// What goes wrong on the way to the sandbox's played service.
package enum Trouble: Sendable {
    /// Nothing happens there, and that is known.
    case unavailable
    /// It happens there, and the answer never arrives.
    case lostReply
    /// The service says no.
    case refused
}

/// The calls that a desk's sandbox accounts have had, and the trouble that the next ones meet.
package final class SandboxLine: Sendable {
    package enum Operation: String, Sendable {
        case open, query, cancel, refund, queryRefund
    }

    private struct State {
        var calls: [Operation] = []
        var troubles: [Operation: Trouble] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    /// Every such call meets this trouble until it is taken away with nil.
    package func set(_ operation: Operation, _ trouble: Trouble?) {
        state.withLock { $0.troubles[operation] = trouble }
    }

    /// How often the operation was called.
    package func count(_ operation: Operation) -> Int { state.withLock { $0.calls.count { $0 == operation } } }

    fileprivate func begin(_ operation: Operation) -> Trouble? {
        state.withLock { state in
            state.calls.append(operation)
            return state.troubles[operation]
        }
    }

    fileprivate func call<Answer: Sendable>(
        _ operation: Operation, _ work: () async throws(ProviderError) -> Answer
    ) async throws(ProviderError) -> Answer {
        switch begin(operation) {
        case nil: return try await work()
        case .unavailable: throw .unavailable
        case .refused: throw .rejected(reason: "refused_by_test")
        case .lostReply:
            _ = try await work()
            throw .outcomeUnknown
        }
    }
}

/// The real sandbox behind a line that a test can disturb.
package struct TroubledSandbox: PaymentPageServing {
    package static let manifest = SandboxProvider.manifest

    private let sandbox: SandboxProvider
    private let line: SandboxLine

    package init(account: ProviderAccount, context: ProviderContext) throws(ProviderSetupError) {
        try self.init(account: account, context: context, line: SandboxLine())
    }

    package init(
        account: ProviderAccount, context: ProviderContext, line: SandboxLine
    ) throws(ProviderSetupError) {
        sandbox = try SandboxProvider(account: account, context: context)
        self.line = line
    }

    package var contractTypes: Set<ContractType> { sandbox.contractTypes }

    package func open(_ attempt: PaymentAttempt) async throws(ProviderError) -> OpenedPayment {
        try await line.call(.open) { () async throws(ProviderError) in try await sandbox.open(attempt) }
    }

    package func query(_ payment: ProviderReference) async throws(ProviderError) -> PaymentReport {
        try await line.call(.query) { () async throws(ProviderError) in try await sandbox.query(payment) }
    }

    package func cancel(_ payment: ProviderReference) async throws(ProviderError) -> PaymentReport {
        try await line.call(.cancel) { () async throws(ProviderError) in try await sandbox.cancel(payment) }
    }

    package func refund(_ refund: RefundAttempt) async throws(ProviderError) -> RefundReport {
        try await line.call(.refund) { () async throws(ProviderError) in try await sandbox.refund(refund) }
    }

    package func query(refund: RefundAttempt) async throws(ProviderError) -> RefundReport {
        try await line.call(.queryRefund) { () async throws(ProviderError) in try await sandbox.query(refund: refund) }
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
}
