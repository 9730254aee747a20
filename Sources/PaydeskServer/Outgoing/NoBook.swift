import Foundation
import ProviderKit

/// For commands that make providers without a database.
struct NoBook: AccountBook {
    func value(_: String) async throws(ProviderError) -> Data? { throw .unavailable }

    func update(_: String, _: @escaping @Sendable (Data?) -> Data?) async throws(ProviderError) -> Data? {
        throw .unavailable
    }
}
