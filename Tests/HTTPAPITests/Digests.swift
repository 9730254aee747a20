import Crypto
import Domain
import Foundation

/// Computes the digests of callers' texts independently of the code under test.
enum Digests {
    static func audited(_ requestID: String) -> String {
        let hex = Hex.encoded(SHA256.hash(data: Data(requestID.utf8)))
        return "sha256:\(hex.prefix(32))"
    }
}
