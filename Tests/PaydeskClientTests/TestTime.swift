import Foundation
import PaydeskClient
import Synchronization
import TestSupport

/// A client's clock that stands still until a test moves it.
final class TestTime: Sendable {
    private struct State {
        var now: Int64
        var sleepers: [UUID: (until: Int64, continuation: CheckedContinuation<Void, Never>)] = [:]
    }

    private let state: Mutex<State>

    /// - Parameter now: seconds since 1970; the real time, which the server's answers have.
    init(_ now: Int64 = Int64(Date().timeIntervalSince1970)) { state = Mutex(State(now: now)) }

    var now: Int64 { state.withLock(\.now) }

    var time: ClientTime {
        ClientTime(now: { self.now }, sleep: { try await self.wait($0) })
    }

    /// Moves the clock, and wakes those whose time has come.
    func advance(_ seconds: Int64) {
        let due = state.withLock { state in
            state.now += seconds
            let due = state.sleepers.filter { $0.value.until <= state.now }
            for id in due.keys { state.sleepers[id] = nil }
            return due.values.map(\.continuation)
        }
        for continuation in due { continuation.resume() }
    }

    /// Waits until a task waits for a later time, and moves the clock to it.
    ///
    /// - Returns: the seconds that it moved.
    @discardableResult
    func advanceToNext() async throws -> Int64 {
        for _ in 0..<3_000 {
            let next = state.withLock { state in state.sleepers.values.map(\.until).min().map { $0 - state.now } }
            if let next {
                advance(max(0, next))
                return next
            }
            await SpawnedProgram.pause()
        }
        throw SpawnedProgram.Failure(description: "nobody waits for a later time")
    }

    private func wait(_ seconds: Int64) async throws {
        let id = UUID()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDue = state.withLock { state in
                    guard seconds > 0, !Task.isCancelled else { return true }
                    state.sleepers[id] = (state.now + seconds, continuation)
                    return false
                }
                if isDue { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.sleepers.removeValue(forKey: id)?.continuation }?.resume()
        }
        try Task.checkCancellation()
    }
}

/// Waits until a condition holds, for at most a minute.
///
/// - Parameter isolation: that of the caller, so that a condition may read what belongs to it.
func eventually(
    _ what: String, isolation: isolated (any Actor)? = #isolation, _ condition: () async throws -> Bool
) async throws {
    for _ in 0..<3_000 {
        if try await condition() { return }
        await SpawnedProgram.pause()
    }
    throw SpawnedProgram.Failure(description: "never: \(what)")
}
