import Crypto
import Domain
package import Foundation
import SwiftASN1
import X509
import _CryptoExtras

/// A certificate chain built like Apple's, and the JWS that its leaf signs; the keys are the same in every run.
package enum AppleTestCertificates {
    /// The path of the root's file, for the `root_certificates` of an account.
    package static let rootFile = file("root.der", root)
    /// The path of the file with Xcode's certificate, for the `xcode_certificates` of an account.
    package static let xcodeFile = file("xcode.der", xcode)

    private static let rootKey = made { try P384.Signing.PrivateKey(rawRepresentation: Data(repeating: 1, count: 48)) }
    private static let middleKey = made {
        try P384.Signing.PrivateKey(rawRepresentation: Data(repeating: 2, count: 48))
    }
    private static let leafKey = made { try P256.Signing.PrivateKey(rawRepresentation: Data(repeating: 3, count: 32)) }
    private static let xcodeKey = made { try P256.Signing.PrivateKey(rawRepresentation: Data(repeating: 4, count: 32)) }
    private static let strangeKey = made {
        try P256.Signing.PrivateKey(rawRepresentation: Data(repeating: 5, count: 32))
    }

    private static let root = certificate("Mint Root", .init(rootKey.publicKey), nil, .init(rootKey), .authority)
    private static let middle = certificate(
        "Mint WWDR", .init(middleKey.publicKey), "Mint Root", .init(rootKey), .authority,
        marker: [1, 2, 840, 113_635, 100, 6, 2, 1])
    private static let leaf = certificate(
        "Mint Store", .init(leafKey.publicKey), "Mint WWDR", .init(middleKey), .leaf,
        marker: [1, 2, 840, 113_635, 100, 6, 11, 1])
    private static let xcode = certificate("Mint Xcode", .init(xcodeKey.publicKey), nil, .init(xcodeKey), .leaf)

    enum Use { case authority, leaf }

    /// The signer of a payload.
    package enum Signer: Sendable {
        case store, xcode
        /// Sends the store's chain, but signs with a key that does not belong to its leaf.
        case forger
    }

    /// The compact JWS of a payload.
    package static func sign(_ payload: Data, by signer: Signer = .store) -> String {
        let chain = signer == .xcode ? [xcode] : [leaf, middle, root]
        let header = made {
            try JSONEncoder().encode(Header(alg: "ES256", x5c: chain.map { $0.base64EncodedString() }))
        }
        let input = "\(Base64URL.encoded(header)).\(Base64URL.encoded(payload))"
        let key =
            switch signer {
            case .store: leafKey
            case .xcode: xcodeKey
            case .forger: strangeKey
            }
        let signature = made { try key.signature(for: Data(input.utf8)).rawRepresentation }
        return "\(input).\(Base64URL.encoded(signature))"
    }

    private struct Header: Encodable {
        let alg: String
        let x5c: [String]
    }

    static func certificate(
        _ name: String, _ key: Certificate.PublicKey, _ issuer: String?, _ signer: Certificate.PrivateKey, _ use: Use,
        marker: ASN1ObjectIdentifier? = nil
    ) -> Data {
        made {
            let certificate = try Certificate(
                version: .v3, serialNumber: .init(bytes: Array(name.utf8)), publicKey: key,
                notValidBefore: Date(timeIntervalSince1970: 1_577_836_800),
                notValidAfter: Date(timeIntervalSince1970: 2_524_608_000), issuer: try distinguished(issuer ?? name),
                subject: try distinguished(name), signatureAlgorithm: algorithm(signer),
                extensions: try Certificate.Extensions {
                    switch use {
                    case .authority:
                        Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                        Critical(KeyUsage(keyCertSign: true, cRLSign: true))
                    case .leaf:
                        Critical(BasicConstraints.notCertificateAuthority)
                        Critical(KeyUsage(digitalSignature: true))
                    }
                    if let marker { Certificate.Extension(oid: marker, critical: false, value: [5, 0]) }
                }, issuerPrivateKey: signer)
            var serializer = DER.Serializer()
            try serializer.serialize(certificate)
            return Data(serializer.serializedBytes)
        }
    }

    private static func algorithm(_ key: Certificate.PrivateKey) -> Certificate.SignatureAlgorithm {
        if _RSA.Signing.PublicKey(key.publicKey) != nil { return .sha256WithRSAEncryption }
        return P256.Signing.PublicKey(key.publicKey) == nil ? .ecdsaWithSHA384 : .ecdsaWithSHA256
    }

    private static func distinguished(_ name: String) throws -> DistinguishedName {
        try DistinguishedName {
            OrganizationName("Paydesk Mint")
            CommonName(name)
        }
    }

    static func file(_ name: String, _ content: Data) -> String {
        made {
            let folder = FileManager.default.temporaryDirectory.appending(
                path: "paydesk_mint_\(TestTemplates.nextNumber())_\(getpid())")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            TemporaryFolders.removeAtExit(folder.path)
            try content.write(to: folder.appending(path: name))
            return folder.appending(path: name).path
        }
    }

    /// The result of a step that a fixture cannot do without; a failure ends the test process.
    static func made<Value>(_ body: () throws -> Value) -> Value {
        do { return try body() } catch { preconditionFailure("a fixture cannot be minted: \(error)") }
    }
}
