package import Domain
package import FoundationEssentials
package import ProviderKit
package import Store

/// A provider's ``AccountBook`` in the database.
package struct StoredBook: AccountBook {
    private static let capacity: Int64 = 100_000
    private static let maxValueBytes = 1 << 16

    private let store: Store
    private let account: AccountID

    package init(store: Store, account: AccountID) {
        self.store = store
        self.account = account
    }

    package func value(_ key: String) async throws(ProviderError) -> Data? {
        let account = account
        do { return try await store.read { db in try db.accounts.findValue(key, account: account) } } catch {
            throw .unavailable
        }
    }

    package func update(
        _ key: String, _ change: @escaping @Sendable (Data?) -> Data?
    ) async throws(ProviderError) -> Data? {
        let account = account
        do {
            return try await store.write { tx in
                try tx.accounts.lock(account)
                let current = try tx.accounts.findValue(key, account: account)
                guard let next = change(current) else { return current }
                guard next.count <= Self.maxValueBytes else { return current }
                try tx.accounts.setValue(next, key: key, account: account, capacity: Self.capacity)
                return next
            }
        } catch StoreError.outcomeUnknown {
            throw .outcomeUnknown
        } catch {
            throw .unavailable
        }
    }
}
