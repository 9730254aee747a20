import Foundation
import Store

extension Seeder {
    /// Reads from a database, whether or not a server has it open.
    static func read<T: Sendable>(
        _ url: DatabaseURL, _ body: @escaping @Sendable (any Database) throws -> T
    ) async throws -> T {
        let store = try Store.openReadOnly(url, now: { Int64(Date().timeIntervalSince1970) })
        let result: Result<T, any Error>
        do { result = .success(try await store.read { try body($0) }) } catch { result = .failure(error) }
        await store.engine.close()
        return try result.get()
    }
}
