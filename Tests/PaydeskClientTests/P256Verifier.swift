import Crypto
import Foundation

@testable import PaydeskClient

/// The check of a snapshot's signature where CryptoKit is not.
struct P256Verifier: SnapshotVerifier {
    func isValid(signature: Data, of message: Data, x: Data, y: Data) -> Bool {
        guard let key = try? P256.Signing.PublicKey(x963Representation: Data([4]) + x + y),
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
        else { return false }
        return key.isValidSignature(signature, for: message)
    }
}
