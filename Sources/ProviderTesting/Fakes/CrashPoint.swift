import FoundationEssentials
import ProviderKit
import Synchronization

/// Ends a provider's process at a step that the kit chooses.
///
/// A step is anything that leaves the process: an HTTP call, or an access to the account's book. After that nothing
/// works until the next process begins.
final class CrashPoint: Sendable {
    struct Place: Sendable, CustomStringConvertible {
        /// The number of the step, from 1.
        let step: Int
        /// True where the step took effect and its answer was lost; false where the process ended just before it.
        let tookEffect: Bool

        var description: String { "\(tookEffect ? "after" : "before") step \(step)" }
    }

    enum Way: Sendable { case on, onlyThere, notAtAll }

    private struct State {
        var place: Place?
        var steps = 0
        var isOver = false
    }

    private let state = Mutex(State())

    /// Begins a process that ends at this point; nil for one that lives on.
    func begin(_ place: Place?) { state.withLock { $0 = State(place: place) } }

    /// True where the simulated process was ended at this point.
    var wasReached: Bool { state.withLock { $0.isOver } }

    func step() -> Way {
        state.withLock { state in
            guard let place = state.place else { return .on }
            guard !state.isOver else { return .notAtAll }
            state.steps += 1
            guard state.steps == place.step else { return .on }
            state.isOver = true
            return place.tookEffect ? .onlyThere : .notAtAll
        }
    }
}

/// An account's book in which each access is a step.
struct SteppedBook: AccountBook {
    let book: InMemoryBook
    let crash: CrashPoint

    func value(_ key: String) async throws(ProviderError) -> Data? {
        guard crash.step() == .on else { throw .unavailable }
        return try await book.value(key)
    }

    func update(
        _ key: String, _ change: @escaping @Sendable (Data?) -> Data?
    ) async throws(ProviderError) -> Data? {
        switch crash.step() {
        case .notAtAll: throw .unavailable
        case .on: return try await book.update(key, change)
        case .onlyThere:
            _ = try await book.update(key, change)
            throw .outcomeUnknown
        }
    }
}
