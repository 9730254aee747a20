public import Domain
public import ProviderKit
import Synchronization

/// A provider's surroundings in a test: a clock, a transport, a book and a log that the test holds, and the context that
/// has them all.
public struct TestContext: Sendable {
    public let clock: ManualClock
    public let book: InMemoryBook
    public let transport: RecordingTransport
    /// Makes the ids of the test's own payments, orders and refunds.
    public let ids: IDSource
    public let context: ProviderContext
    private let lines = LogLines()

    /// The lines of the log: `warning paypal: no answer call=POST token error=notSent`, the fields in their order.
    public var logged: [String] { lines.all }

    /// - Parameters:
    ///   - account: the last part of the account's notification address.
    ///   - clock: the time; it moves when the test moves it.
    ///   - changesSomething: false for calls whose answers are never lost.
    ///   - answer: answers the provider's calls, at the clock's time.
    public init(
        account: String, clock: ManualClock = ManualClock(),
        changesSomething: @escaping @Sendable (OutgoingRequest) -> Bool = { _ in true },
        answer: @escaping @Sendable (OutgoingRequest, Timestamp) async throws(HTTPTransportError) -> IncomingReply
    ) {
        let (book, lines) = (InMemoryBook(), lines)
        let random = SeededRandom().source
        self.clock = clock
        self.book = book
        ids = IDSource(time: clock.time, random: random)
        transport = RecordingTransport(changesSomething: changesSomething) { request throws(HTTPTransportError) in
            try await answer(request, clock.now)
        }
        context = ProviderContext(
            http: transport, time: clock.time, random: random, book: book,
            notifyURL: "https://pay.example/v1/notify/\(account)", publicURL: "https://pay.example",
            log: ProviderLog { lines.add($0, $1, $2) })
    }
}

/// The lines that a provider wrote into its log.
public final class LogLines: Sendable {
    private let lines = Mutex<[String]>([])

    public init() {}

    public var all: [String] { lines.withLock { $0 } }

    public func add(_ level: ProviderLog.Level, _ message: String, _ fields: [String: String]) {
        let words = fields.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        lines.withLock { $0.append(([level.rawValue, message] + words).joined(separator: " ")) }
    }
}

/// A test's account of one provider: its surroundings, and the attempts, references and refunds that the test hands to it.
public protocol ProviderFixture: Sendable {
    var test: TestContext { get }
    /// The amount of an attempt of which a test says nothing else.
    static var price: Money { get }
    /// The return address of an attempt of which a test says nothing else.
    static var returnURL: String? { get }
}

extension ProviderFixture {
    public static var price: Money { Money(value: 3_990, currency: .cny) }
    public static var returnURL: String? { "https://app.example/done?a=1&b=2" }

    public var clock: ManualClock { test.clock }
    public var book: InMemoryBook { test.book }
    public var transport: RecordingTransport { test.transport }
    public var ids: IDSource { test.ids }
    public var context: ProviderContext { test.context }
    public var logged: [String] { test.logged }

    /// An attempt to pay, with new ids.
    ///
    /// - Parameter expires: seconds from now.
    public func attempt(
        _ amount: Money = Self.price, title: String = "VIP monthly", platform: Platform = .web,
        returnURL: String? = Self.returnURL, expires: Int64 = 1_800,
        accepts: Set<ContractType> = Set(ContractType.allCases), payerAddress: String? = nil,
        payer: WalletPayer? = nil
    ) -> PaymentAttempt {
        PaymentAttempt(
            payment: ids.make(), order: ids.make(), amount: amount, title: title, platform: platform,
            returnURL: returnURL, expiresAt: clock.now.adding(seconds: expires), accepts: accepts,
            payerAddress: payerAddress, payer: payer)
    }

    /// The reference of an attempt's payment.
    ///
    /// - Parameter reference: the provider's own number, where it has one.
    public func reference(_ attempt: PaymentAttempt, _ reference: String? = nil) -> ProviderReference {
        ProviderReference(payment: attempt.payment, reference: reference, amount: attempt.amount)
    }

    /// A refund of a payment, with a new id.
    public func refund(
        _ payment: ProviderReference, _ amount: Money = Self.price, reference: String? = nil
    ) -> RefundAttempt {
        RefundAttempt(
            refund: ids.make(), payment: payment, amount: amount, reason: "a secret reason", reference: reference)
    }
}

/// The texts in which a secret could be found: of results, of errors, of a provider itself.
public struct ShownTexts: Sendable {
    public private(set) var all: [String] = []

    public init() {}

    /// Makes a call and keeps its result or its error as text.
    ///
    /// - Parameter keepsResult: false for a call whose result may hold what is secret to others.
    public mutating func add<Value>(keepsResult: Bool = true, _ call: () async throws -> Value) async {
        do {
            let value = try await call()
            if keepsResult { all.append("\(value)") }
        } catch {
            all += ["\(error)", String(reflecting: error)]
        }
    }

    /// Keeps what a value shows of itself.
    public mutating func add(dumpOf value: Any) {
        var dumped = ""
        dump(value, to: &dumped)
        all += [dumped, "\(value)", String(reflecting: value)]
    }
}

extension ProviderFixture {
    /// Makes each call of a provider once and returns all that it shows, its log too.
    ///
    /// - Parameters:
    ///   - reference: the provider's own number of the payment, where it has one.
    ///   - keepsResults: false where results may hold what is secret to others, such as a client's secret.
    public func shown(
        by provider: any PaymentProvider, _ reference: String? = nil, keepsResults: Bool = true
    ) async -> [String] {
        var shown = ShownTexts()
        let attempt = attempt()
        let payment = self.reference(attempt, reference)
        let refund = refund(payment, Money(value: 1, currency: Self.price.currency), reference: reference)
        await shown.add(keepsResult: keepsResults) { try await provider.open(attempt) }
        await shown.add(keepsResult: keepsResults) { try await provider.query(payment) }
        await shown.add(keepsResult: keepsResults) { try await provider.cancel(payment) }
        await shown.add(keepsResult: keepsResults) { try await provider.refund(refund) }
        await shown.add(keepsResult: keepsResults) { try await provider.query(refund: refund) }
        if keepsResults, let diagnosing = provider as? any OnlineDiagnosing {
            await shown.add { await diagnosing.diagnose() }
        }
        shown.add(dumpOf: provider)
        return shown.all + logged
    }
}
