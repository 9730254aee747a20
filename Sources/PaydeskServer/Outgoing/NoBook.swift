import Foundation
import ProviderKit

/// The account book of commands that make providers without a database.
struct NoBook: AccountBook {
    func value(_: String) async throws(ProviderError) -> Data? { throw .unavailable }

    func update(_: String, _: @escaping @Sendable (Data?) -> Data?) async throws(ProviderError) -> Data? {
        throw .unavailable
    }
}
