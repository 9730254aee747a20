import Domain
import Foundation
import Gateway
import Synchronization

/// Forwards a server's events one at a time, in their order, and keeps how far it came.
final class EventForwarding: Sendable {
    /// The outcome of one attempt: the status of the answer, or the reason why none came.
    enum Outcome: Sendable, Equatable {
        case answered(Int)
        case failed(String)

        fileprivate var isGood: Bool { if case .answered(200...299) = self { true } else { false } }

        fileprivate var words: String {
            switch self {
            case .answered(let status): String(status)
            case .failed(let why): why
            }
        }
    }

    /// The seconds after which an event that failed is tried again.
    static let pauses: [Int64] = [1, 5, 30]
    /// The limits of an attempt in seconds, at the end a shorter one.
    private static let (limit, lastLimit): (Int64, Int64) = (10, 2)
    /// The milliseconds in which the last events are forwarded.
    private static let lastMilliseconds: Int64 = 3_000

    struct Settings: Sendable {
        /// The types that are forwarded; nil for all.
        let types: Set<String>?
        /// True where what fails is tried again.
        let retries: Bool
        /// Asks a person whether to try again; nil where nobody can be asked.
        let asksToRetry: (@Sendable () async -> Bool)?
    }

    private let reader: EventFeedReader
    private let settings: Settings
    private let secret: WebhookSecret
    private let time: TimeSource
    private let post: @Sendable (SignedMessage, _ seconds: Int64) async -> Outcome
    private let show: @Sendable (String) -> Void
    private let position: Mutex<Int64>

    /// - Parameters:
    ///   - after: the number of the last event that is not forwarded.
    ///   - post: sends a message, within so many seconds.
    ///   - show: shows a line.
    init(
        _ reader: EventFeedReader, after: Int64, _ settings: Settings, secret: WebhookSecret, time: TimeSource,
        post: @escaping @Sendable (SignedMessage, _ seconds: Int64) async -> Outcome,
        show: @escaping @Sendable (String) -> Void
    ) {
        self.reader = reader
        self.settings = settings
        self.secret = secret
        self.time = time
        self.post = post
        self.show = show
        position = Mutex(after)
    }

    /// The number of the last event that was forwarded or passed over.
    var cursor: Int64 { position.withLock { $0 } }

    /// Forwards until the task is cancelled; an attempt under way comes to its end first.
    ///
    /// - Throws: exit 1 where the server refuses to show its events.
    func run() async throws(CommandError) {
        while !Task.isCancelled {
            guard
                let page = try await reader.next(
                    after: cursor,
                    isMissing: { [show] why in show("\(why); it is asked again every second".shownOnOneLine) })
            else { return }
            for event in page.events {
                guard !Task.isCancelled, await forward(event) else { return }
            }
            if let next = page.next { pass(next) }
        }
    }

    /// Forwards what is there already, each event once, for a few seconds at most.
    func finish() async throws(CommandError) {
        let end = time.milliseconds() + Self.lastMilliseconds
        for event in try await reader.rest(after: cursor).events where time.milliseconds() < end {
            if isChosen(event) {
                let outcome = await attempt(event, within: Self.lastLimit)
                // It stays the next one for whoever goes on after the cursor.
                guard outcome.isGood || !settings.retries else { return }
            }
            pass(event.seq)
        }
    }

    private func isChosen(_ event: ForwardedEvent) -> Bool { settings.types?.contains(event.type) ?? true }

    private func pass(_ seq: Int64) { position.withLock { $0 = max($0, seq) } }

    /// Forwards an event, or passes it over after its attempts.
    ///
    /// - Returns: false where the task was cancelled between two attempts.
    private func forward(_ event: ForwardedEvent) async -> Bool {
        guard isChosen(event) else {
            pass(event.seq)
            return true
        }
        var outcome = await attempt(event)
        var pauses = Self.pauses[...]
        var goesOn = settings.retries
        while !outcome.isGood, !Task.isCancelled {
            if !goesOn {
                guard let asks = settings.asksToRetry else { break }
                show("  press Enter within 5 seconds to try again")
                guard await asks() else { break }
                goesOn = true
            }
            guard let pause = pauses.popFirst() else {
                show("  passed over")
                break
            }
            await reader.pause(.seconds(pause))
            guard !Task.isCancelled else { return false }
            outcome = await attempt(event)
        }
        guard outcome.isGood || !settings.retries || !Task.isCancelled else { return false }
        pass(event.seq)
        return true
    }

    /// Makes one attempt, which is not cut short where the task is cancelled: the receiver may have acted on it.
    private func attempt(_ event: ForwardedEvent, within seconds: Int64 = limit) async -> Outcome {
        let message = event.signed(by: secret, at: time.now)
        let outcome = await Task { [post] in await post(message, seconds) }.value
        show("\(event.seq)  \(event.type)  \(event.subject)  → \(outcome.words)".shownOnOneLine)
        return outcome
    }
}
