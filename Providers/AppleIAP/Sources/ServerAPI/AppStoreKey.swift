import Crypto
import Domain
import FoundationEssentials

/// The In-App Purchase key of App Store Connect, which signs the tokens; descriptions do not show it.
package struct AppStoreKey: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The reason why a text is no such key, without any part of it.
    package struct Fault: Error, Equatable {
        package let problem: String
        package let remedy: String
    }

    package let keyID: String
    package let issuerID: String
    private let key: P256.Signing.PrivateKey

    /// - Parameter pem: the text of the `.p8` file, a P-256 key in PKCS#8.
    package init(keyID: String, issuerID: String, pem: String) throws(Fault) {
        self.keyID = keyID
        self.issuerID = issuerID
        do {
            key = try P256.Signing.PrivateKey(pemRepresentation: pem)
        } catch {
            throw Self.fault(pem)
        }
    }

    private struct Header: Encodable {
        let alg = "ES256"
        let kid: String
        let typ = "JWT"
    }

    /// Signs claims as a JWS in compact serialization with ES256 (RFC 7515, RFC 7518 section 3.4).
    func token(_ claims: some Encodable) throws(AppStoreServerError) -> String {
        let header = try AppStoreRequest.json(Header(kid: keyID))
        let input = "\(Base64URL.encoded(header)).\(Base64URL.encoded(try AppStoreRequest.json(claims)))"
        return "\(input).\(Base64URL.encoded(try signature(for: Data(input.utf8)).rawRepresentation))"
    }

    /// Signs data with ECDSA and SHA-256.
    ///
    /// - Returns: the signature in DER.
    func derSignature(for data: Data) throws(AppStoreServerError) -> Data {
        try signature(for: data).derRepresentation
    }

    private func signature(for data: Data) throws(AppStoreServerError) -> P256.Signing.ECDSASignature {
        do { return try key.signature(for: data) } catch { throw .invalidRequest("the token cannot be signed") }
    }

    private static func fault(_ pem: String) -> Fault {
        let mend = "Use the .p8 file of an In-App Purchase key of App Store Connect, as file:path."
        let problem =
            if !pem.contains("-----BEGIN ") {
                "is no PEM text"
            } else if pem.contains("BEGIN ENCRYPTED PRIVATE KEY") {
                "is encrypted with a password"
            } else if pem.contains("BEGIN CERTIFICATE") {
                "is a certificate, not a key"
            } else if pem.contains("BEGIN PUBLIC KEY") {
                "is a public key, not the private one"
            } else if pem.contains("\\n") {
                "holds \\n where its lines should end"
            } else {
                "is no private key of the curve P-256"
            }
        return Fault(problem: problem, remedy: mend)
    }

    package var description: String { "AppStoreKey(\(keyID))" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
