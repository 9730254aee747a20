public import FoundationEssentials
public import ProviderKit

/// An account's book for tests: in memory, and as strict as the store.
///
/// It runs every change twice and stores the second result, because a store may repeat a change.
public actor InMemoryBook: AccountBook {
    public private(set) var entries: [String: Data] = [:]
    /// The number of changes that were stored.
    public private(set) var writes = 0

    public init() {}

    public func value(_ key: String) async throws(ProviderError) -> Data? { entries[key] }

    public func update(
        _ key: String, _ change: @escaping @Sendable (Data?) -> Data?
    ) async throws(ProviderError) -> Data? {
        _ = change(entries[key])
        guard let value = change(entries[key]) else { return entries[key] }
        guard value.count <= 64 << 10 else { throw .rejected(reason: "book_value_too_large") }
        entries[key] = value
        writes += 1
        return value
    }
}
