// Declarations of CryptoKit that PaydeskStoreKit uses. https://developer.apple.com/documentation/cryptokit/p256
public import Foundation

public enum P256 {
    public enum Signing {
        public struct ECDSASignature: Sendable {
            public init<D: DataProtocol>(rawRepresentation: D) throws {}
        }

        public struct PublicKey: Sendable {
            public init<Bytes: ContiguousBytes>(x963Representation: Bytes) throws {}
            public func isValidSignature<D: DataProtocol>(_ signature: ECDSASignature, for data: D) -> Bool {
                fatalError()
            }
        }
    }
}
