public import Domain
public import FoundationEssentials
import Synchronization

/// The in-memory cache of an account's provider, for an OAuth token or the certificates of its service.
///
/// It is bounded in entries and bytes: beyond them the least recently used are dropped, and expired entries are never
/// returned. It is lost at a restart and not shared with other processes, so nothing that must survive may be in it.
/// Descriptions and dumps show no values.
public final class ProviderCache: Sendable, CustomStringConvertible, CustomReflectable {
    /// A value with its expiry.
    public struct Entry: Sendable {
        public let value: Data
        public let until: Timestamp

        public init(_ value: Data, until: Timestamp) {
            self.value = value
            self.until = until
        }
    }

    public static let entryLimit = 256
    public static let byteLimit = 1 << 20

    private struct Kept {
        let entry: Entry
        var lastUse: UInt64
    }

    private struct State {
        var kept: [String: Kept] = [:]
        var bytes = 0
        var uses: UInt64 = 0
        var underway: [String: Task<Result<Data, ProviderError>, Never>] = [:]
    }

    private let time: TimeSource
    private let entryLimit: Int
    private let byteLimit: Int
    private let state = Mutex(State())

    public init(
        time: TimeSource, entryLimit: Int = ProviderCache.entryLimit, byteLimit: Int = ProviderCache.byteLimit
    ) {
        self.time = time
        self.entryLimit = entryLimit
        self.byteLimit = byteLimit
    }

    /// Returns the value of a key; nil where it is absent or expired.
    public func value(_ key: String) -> Data? {
        let now = time.now
        return state.withLock { Self.read(key, at: now, &$0) }
    }

    /// Stores a value in place of another; a value that exceeds the bounds alone is not stored.
    public func keep(_ key: String, _ entry: Entry) {
        let now = time.now
        state.withLock { keep(key, entry, at: now, &$0) }
    }

    public func forget(_ key: String) { state.withLock { Self.drop(key, &$0) } }

    /// Removes a value that turned out to be invalid, unless it was replaced meanwhile.
    public func forget(_ key: String, where value: Data) {
        state.withLock { state in
            if state.kept[key]?.entry.value == value { Self.drop(key, &state) }
        }
    }

    /// Returns the value of a key, and makes it where there is no valid one; concurrent callers wait for the same one.
    ///
    /// Making a value continues when its caller is cancelled, because others wait for it too. An invalid value stays
    /// until another one is made.
    public func value(
        _ key: String, where isGood: @Sendable (Data) -> Bool = { _ in true },
        orMake make: @escaping @Sendable () async throws(ProviderError) -> Entry
    ) async throws(ProviderError) -> Data {
        let now = time.now
        let known: Known = state.withLock { state in
            if let value = Self.read(key, at: now, &state), isGood(value) { return .value(value) }
            if let underway = state.underway[key] { return .making(underway) }
            let task = Task { await self.making(key, make) }
            state.underway[key] = task
            return .making(task)
        }
        switch known {
        case .value(let value): return value
        case .making(let task): return try await task.value.get()
        }
    }

    private enum Known: Sendable {
        case value(Data)
        case making(Task<Result<Data, ProviderError>, Never>)
    }

    private func making(
        _ key: String, _ make: @Sendable () async throws(ProviderError) -> Entry
    ) async -> Result<Data, ProviderError> {
        let result: Result<Entry, ProviderError>
        do throws(ProviderError) { result = .success(try await make()) } catch { result = .failure(error) }
        let now = time.now
        state.withLock { state in
            if case .success(let entry) = result { keep(key, entry, at: now, &state) }
            state.underway[key] = nil
        }
        return result.map(\.value)
    }

    public var description: String { "ProviderCache" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

// Functions that are called under the lock.
extension ProviderCache {
    private static func size(_ key: String, _ entry: Entry) -> Int { key.utf8.count + entry.value.count }

    private static func drop(_ key: String, _ state: inout State) {
        guard let old = state.kept.removeValue(forKey: key) else { return }
        state.bytes -= size(key, old.entry)
    }

    private static func read(_ key: String, at now: Timestamp, _ state: inout State) -> Data? {
        guard let kept = state.kept[key] else { return nil }
        guard now < kept.entry.until else {
            drop(key, &state)
            return nil
        }
        state.uses += 1
        state.kept[key]?.lastUse = state.uses
        return kept.entry.value
    }

    private func keep(_ key: String, _ entry: Entry, at now: Timestamp, _ state: inout State) {
        Self.drop(key, &state)
        guard now < entry.until, Self.size(key, entry) <= byteLimit, entryLimit > 0 else { return }
        state.uses += 1
        state.kept[key] = Kept(entry: entry, lastUse: state.uses)
        state.bytes += Self.size(key, entry)
        guard state.kept.count > entryLimit || state.bytes > byteLimit else { return }
        for (old, kept) in state.kept where kept.entry.until <= now { Self.drop(old, &state) }
        while state.kept.count > entryLimit || state.bytes > byteLimit,
            let oldest = state.kept.min(by: { $0.value.lastUse < $1.value.lastUse })
        {
            Self.drop(oldest.key, &state)
        }
    }
}
