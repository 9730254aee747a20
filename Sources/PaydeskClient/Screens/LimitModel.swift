/// The thing that a meter counts, in words: "messages", "条消息".
public struct LimitUnit: Sendable, Equatable {
    public let english: String
    /// With its measure word.
    public let chinese: String

    public init(english: String, chinese: String) {
        self.english = english
        self.chinese = chinese
    }
}

/// The state of ``LimitModel``.
public struct LimitState: Sendable, Equatable {
    public internal(set) var usage: MeterUsage?
    public internal(set) var isReached = false
    /// Words that name the limit and what lifts it; nil while the limit is not reached.
    public internal(set) var prompt: String?
    /// Words for an alert.
    public internal(set) var message: String?
}

/// A limit of use, such as messages a day, that the server counts.
@MainActor
public final class LimitModel {
    public private(set) var state = LimitState() {
        didSet { if state != oldValue { changes.send(state) } }
    }
    private let desk: Paydesk
    private let meter: String
    private let unit: LimitUnit
    private let changes = Changes<LimitState>()

    public init(desk: Paydesk, meter: String, unit: LimitUnit) {
        self.desk = desk
        self.meter = meter
        self.unit = unit
    }

    /// The present state and each further one.
    public var updates: AsyncStream<LimitState> { changes.stream(from: state) }

    /// Reads the meter: at the start, and after a purchase.
    public func load() async {
        do { show(try await desk.usage(meter)) } catch { fail(error) }
    }

    /// Uses one before it is done.
    ///
    /// - Returns: false where the limit is reached, with the prompt, or where the server does not answer.
    public func use() async -> Bool {
        do {
            show(try await desk.consume(meter))
            return true
        } catch PaydeskError.refused(let refusal) where refusal.error == .usageLimitReached {
            await load()
            return false
        } catch {
            fail(error)
            return false
        }
    }

    /// Takes the alert away.
    public func dismissMessage() { state.message = nil }

    private func show(_ usage: MeterUsage) {
        var next = state
        next.usage = usage
        next.isReached = usage.remaining == 0
        next.prompt = next.isReached ? ScreenText.limitReached(usage, unit, desk.language) : nil
        next.message = nil
        state = next
    }

    private func fail(_ error: any Error) { state.message = ClientFailure(error).text(desk.language) }
}
