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
    ///   - changesSomething: false for calls whose answers are never lost.
    ///   - answer: answers the provider's calls, at the clock's time.
    public init(
        account: String, changesSomething: @escaping @Sendable (OutgoingRequest) -> Bool = { _ in true },
        answer: @escaping @Sendable (OutgoingRequest, Timestamp) async throws(HTTPTransportError) -> IncomingReply
    ) {
        let (clock, book, lines) = (ManualClock(), InMemoryBook(), lines)
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
        accepts: Set<ContractType> = Set(ContractType.allCases), payerAddress: String? = nil
    ) -> PaymentAttempt {
        PaymentAttempt(
            payment: ids.make(), order: ids.make(), amount: amount, title: title, platform: platform,
            returnURL: returnURL, expiresAt: clock.now.adding(seconds: expires), accepts: accepts,
            payerAddress: payerAddress)
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
