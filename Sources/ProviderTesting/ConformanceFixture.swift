import Domain
import FoundationEssentials
import ProviderKit
import Synchronization

/// The environment of one check: a fresh rehearsal, clock, book and transport, with functions that examine the outcome.
final class ConformanceFixture: Sendable {
    let rehearsal: any Rehearsal
    let clock: ManualClock
    let book: InMemoryBook
    let transport: RecordingTransport
    let context: ProviderContext
    let manifest: ProviderManifest
    let transcript: Transcript
    let ids: IDSource
    /// The payer whom the first of the account's contract types needs; nil where it needs none.
    private let walletPayer: WalletPayer?
    private let counter = Mutex(0)

    /// - Parameter seed: two environments with the same seed make the same ids.
    init(_ rehearsal: any Rehearsal, _ transcript: Transcript, seed: UInt64) throws {
        let clock = ManualClock()
        let book = InMemoryBook()
        let random = SeededRandom(seed).source
        func context(_ http: any HTTPTransport, _ book: any AccountBook) -> ProviderContext {
            ProviderContext(
                http: http, time: clock.time, random: random, book: book,
                notifyURL: "https://pay.example/v1/notify/token-of-the-account", publicURL: "https://pay.example")
        }
        let inner = context(UnreachableTransport(), book)
        transport = RecordingTransport(clock: clock, changesSomething: rehearsal.changesSomething) {
            request throws(HTTPTransportError) in
            try await rehearsal.answer(request, in: inner)
        }
        self.context = context(transport, SteppedBook(book: book, crash: transport.crash))
        self.rehearsal = rehearsal
        self.clock = clock
        self.book = book
        self.transcript = transcript
        ids = IDSource(time: clock.time, random: random)
        let provider = try rehearsal.makeProvider(self.context, upstream: .normal)
        manifest = provider.manifest
        walletPayer = provider.rehearsedPayer(among: provider.contractTypes)
    }

    /// Makes the account's provider in a new process, at a payment service with this behaviour.
    func provider(_ behaviour: UpstreamBehaviour = .normal) throws -> any PaymentProvider {
        transport.behaviour = behaviour
        return try rehearsal.makeProvider(context.forgetting, upstream: behaviour)
    }
}

// Examining.
extension ConformanceFixture {
    var expectations: Int { counter.withLock { $0 } }

    func expect(_ holds: Bool, _ reason: @autoclosure () -> String) throws {
        counter.withLock { $0 += 1 }
        guard holds else { throw CheckStop.failed(reason()) }
    }

    /// Runs a call and records what its result shows.
    func result<Value: Sendable>(
        _ call: () async throws -> Value
    ) async throws -> Result<Value, ProviderError> {
        do {
            let value = try await call()
            transcript.add(value)
            return .success(value)
        } catch let error as ProviderError {
            transcript.add(error)
            return .failure(error)
        }
    }

    /// Runs a call that must succeed.
    func value<Value: Sendable>(
        _ what: String, _ call: () async throws -> Value
    ) async throws -> Value {
        switch try await result(call) {
        case .success(let value): return value
        case .failure(let error): throw CheckStop.failed("\(what) threw \(error)")
        }
    }

    /// Runs a call that must end in exactly this error.
    func expect<Value: Sendable>(
        _ expected: ProviderError, _ what: String, _ call: () async throws -> Value
    ) async throws {
        switch try await result(call) {
        case .success(let value): try expect(false, "\(what) gave \(value) instead of \(expected)")
        case .failure(let error): try expect(error == expected, "\(what) threw \(error) instead of \(expected)")
        }
    }

    /// Runs a call whose message must not be believed, for any reason.
    func expectUnproven<Value: Sendable>(_ what: String, _ call: () async throws -> Value) async throws {
        switch try await result(call) {
        case .success(let value): try expect(false, "\(what) gave \(value) instead of unproven")
        case .failure(.unproven): try expect(true, "")
        case .failure(let error): try expect(false, "\(what) threw \(error) instead of unproven")
        }
    }

    /// Runs a call that must be refused for good.
    func expectRefusal<Value: Sendable>(
        _ what: String, _ call: () async throws -> Value
    ) async throws {
        switch try await result(call) {
        case .success(let value): try expect(false, "\(what) gave \(value) instead of a refusal")
        case .failure(.rejected), .failure(.unfit), .failure(.unsupported): try expect(true, "")
        case .failure(let error): try expect(false, "\(what) threw \(error) instead of a refusal")
        }
    }
}

// Playing.
extension ConformanceFixture {
    var currency: Currency { get throws { manifest.currencies.first ?? .cny } }

    func attempt(
        _ value: Int64 = 3990, in money: Currency? = nil, title: String = "VIP monthly"
    ) throws -> PaymentAttempt {
        let isApple = manifest.goods == .appleProducts
        return PaymentAttempt(
            payment: ids.make(), order: ids.make(), amount: Money(value: value, currency: try money ?? currency),
            title: title,
            platform: isApple ? .ios : .web, returnURL: "https://app.example/done",
            expiresAt: clock.now.adding(seconds: 1_800), appleProductIDs: isApple ? ["com.example.month"] : [],
            appAccountToken: isApple ? "0190c6f2-8d3a-4b7e-9c55-0f1e2d3c4b5a" : nil,
            accepts: Set(ContractType.allCases), payer: walletPayer)
    }

    func reference(_ attempt: PaymentAttempt, _ opened: OpenedPayment? = nil) -> ProviderReference {
        ProviderReference(payment: attempt.payment, reference: opened?.reference, amount: attempt.amount)
    }

    func open(_ provider: any PaymentProvider, _ attempt: PaymentAttempt) async throws -> OpenedPayment {
        try await value("open") { try await provider.open(attempt) }
    }

    /// Opens a payment that waits for its payer.
    func pending(_ provider: any PaymentProvider, _ attempt: PaymentAttempt? = nil) async throws -> ProviderReference {
        let attempt = try attempt ?? self.attempt()
        let opened = try await open(provider, attempt)
        if provider.contractTypes == [.none] {
            try expect(opened.outcome == .succeeded(attempt.amount), "a none contract is \(opened.outcome), not paid")
            throw CheckStop.notApplicable("this account's payments are paid at once")
        }
        try expect(!opened.outcome.isSuccess, "a payment that nobody paid is \(opened.outcome)")
        return reference(attempt, opened)
    }

    /// Opens a payment and lets the payer pay it.
    func paid(_ provider: any PaymentProvider, _ attempt: PaymentAttempt? = nil) async throws -> ProviderReference {
        try needPayer()
        let attempt = try attempt ?? self.attempt()
        let opened = try await open(provider, attempt)
        if !opened.outcome.isSuccess {
            try expect(
                try await rehearsal.act(.succeed, on: attempt.payment, in: context), "the payer could not pay")
        }
        return reference(attempt, opened)
    }

    /// Skips the check where no payer acts at a payment service: store purchases are made in the app, and a wallet's
    /// tokens are charged by another account.
    func needPayer() throws {
        if try provider() is any InstrumentVerifying {
            throw CheckStop.notApplicable("another account charges what the payer hands over")
        }
        if manifest.goods == .appleProducts {
            throw CheckStop.notApplicable("its payments are store purchases, which tell of themselves")
        }
    }

    func effects(of payment: ID<Payment>) async throws -> UpstreamEffects {
        try await rehearsal.effects(of: payment, in: context)
    }

    func query(_ provider: any PaymentProvider, _ reference: ProviderReference) async throws -> PaymentReport {
        let report = try await value("query") { try await provider.query(reference) }
        try expect(report.payment == reference.payment, "the query's report is about \(report.payment)")
        return report
    }

    func refund(_ payment: ProviderReference, _ value: Int64) -> RefundAttempt {
        RefundAttempt(
            refund: ids.make(), payment: payment, amount: Money(value: value, currency: payment.amount.currency),
            // Marked as sent, because a call that is repeated was sent before, and a first call may have been.
            reason: "conformance", sentAt: clock.now, wasSent: true)
    }

    /// Skips the check where opening a payment makes no call, as for Apple's in-app purchases.
    func needCallingOpen() async throws {
        let provider = try provider()
        _ = try await open(provider, try attempt())
        if await !wasAsked {
            throw CheckStop.notApplicable("it opens payments without asking anybody")
        }
    }
}

extension PaymentOutcome {
    var isSuccess: Bool { if case .succeeded = self { true } else { false } }

    /// True where the payment can no longer be paid.
    var isClosed: Bool {
        switch self {
        case .failed, .cancelled: true
        case .accepted, .pending, .succeeded, .tryFailed: false
        }
    }
}

extension ProviderContext {
    /// The same account after a restart, without anything that was in memory.
    fileprivate var forgetting: ProviderContext {
        ProviderContext(
            http: http, time: time, random: random, book: book, notifyURL: notifyURL, publicURL: publicURL, log: log)
    }
}

/// The transport of a rehearsal's own context, which reaches nothing: the payment service does not call itself.
private struct UnreachableTransport: HTTPTransport {
    func send(_ request: OutgoingRequest) async throws(HTTPTransportError) -> IncomingReply { throw .notSent }
}

/// Every text of one run that could end up in a log or an answer.
final class Transcript: Sendable {
    private let texts = Mutex<Set<String>>([])

    /// Records a value as descriptions, debuggers and dumps show it.
    func add(_ value: some Any) {
        var dumped = ""
        dump(value, to: &dumped)
        let shown = ["\(value)", String(reflecting: value), dumped]
        texts.withLock { $0.formUnion(shown) }
    }

    var all: Set<String> { texts.withLock { $0 } }
}
