#if canImport(CryptoKit)
    import CryptoKit
    public import Foundation
    public import PaydeskClient

    /// CryptoKit's check of a snapshot's signature.
    public struct CryptoKitVerifier: SnapshotVerifier {
        public init() {}

        public func isValid(signature: Data, of message: Data, x: Data, y: Data) -> Bool {
            guard let key = try? P256.Signing.PublicKey(x963Representation: Data([4]) + x + y),
                let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
            else { return false }
            return key.isValidSignature(signature, for: message)
        }
    }
#endif
