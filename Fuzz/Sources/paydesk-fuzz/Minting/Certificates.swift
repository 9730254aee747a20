import Crypto
import Foundation
import SwiftASN1
import X509

/// Root, intermediate and leaf as Apple's are made, all on P-256 because it is fast, and a certificate of Xcode's.
enum Certificates {
    static let storeLeaf: ASN1ObjectIdentifier = [1, 2, 840, 113_635, 100, 6, 11, 1]
    static let developerRelations: ASN1ObjectIdentifier = [1, 2, 840, 113_635, 100, 6, 2, 1]

    static let root = SignedDER.certificate(rootContent, by: Keys.root)
    static let intermediate = SignedDER.certificate(intermediateContent, by: Keys.root)
    static let leaf = SignedDER.certificate(leafContent, by: Keys.intermediate)
    /// A certificate with a constant signature, which is never checked.
    static let xcode = SignedDER.certificate(xcodeContent, signature: SignedDER.noSignature)

    static let rootContent = recipe("Fuzz Root", .init(Keys.root.publicKey), by: Keys.root).content
    static let intermediateContent = intermediateRecipe().content
    static let leafContent = leafRecipe().content
    static let xcodeContent = recipe("StoreKit Testing", .init(Keys.xcode.publicKey), by: Keys.xcode).content

    /// Leaves that are not like Apple's: sound ones first, then some that have to be refused.
    static var leafContents: [[UInt8]] {
        [
            leafContent,
            leafRecipe { $0.extensions.append(.init(oid: [2, 5, 29, 99], critical: false, value: [5, 0])) }.content,
            leafRecipe { $0.last = 4_102_444_800 }.content,
            leafRecipe { $0.extensions.append(.init(oid: [2, 5, 29, 99], critical: true, value: [5, 0])) }.content,
            leafRecipe { $0.extensions = [] }.content,
            leafRecipe { $0.key = .init(P384.Signing.PrivateKey().publicKey) }.content,
            leafRecipe { $0.key = .init(P521.Signing.PrivateKey().publicKey) }.content,
            leafRecipe { $0.key = .init(Curve25519.Signing.PrivateKey().publicKey) }.content,
            rootContent, intermediateContent,
        ]
    }

    static var intermediateContents: [[UInt8]] {
        [
            intermediateContent,
            intermediateRecipe { $0.last = 4_102_444_800 }.content,
            intermediateRecipe { $0.extensions.removeLast() }.content,
            intermediateRecipe { $0.key = .init(Curve25519.Signing.PrivateKey().publicKey) }.content,
            leafContent,
        ]
    }

    private static func leafRecipe(_ edit: (inout Recipe) -> Void = { _ in }) -> Recipe {
        var recipe = recipe("Fuzz Store Signing", .init(Keys.leaf.publicKey), by: Keys.intermediate)
        recipe.issuer = "Fuzz WWDR"
        recipe.extensions = extensions(.notCertificateAuthority, .init(digitalSignature: true), marker: storeLeaf)
        edit(&recipe)
        return recipe
    }

    private static func intermediateRecipe(_ edit: (inout Recipe) -> Void = { _ in }) -> Recipe {
        var recipe = recipe("Fuzz WWDR", .init(Keys.intermediate.publicKey), by: Keys.root)
        recipe.issuer = "Fuzz Root"
        recipe.extensions = extensions(
            .isCertificateAuthority(maxPathLength: 0), .init(keyCertSign: true, cRLSign: true),
            marker: developerRelations)
        edit(&recipe)
        return recipe
    }

    private static func recipe(
        _ name: String, _ key: Certificate.PublicKey, by signer: P256.Signing.PrivateKey
    )
        -> Recipe
    {
        Recipe(
            subject: name, issuer: name, key: key, signer: signer,
            extensions: extensions(
                .isCertificateAuthority(maxPathLength: nil), .init(keyCertSign: true, cRLSign: true), marker: nil))
    }

    private static func extensions(
        _ constraints: BasicConstraints, _ usage: KeyUsage, marker: ASN1ObjectIdentifier?
    ) -> [Certificate.Extension] {
        Harness.minted {
            try [.init(constraints, critical: true), .init(usage, critical: true)]
        } + (marker.map { [.init(oid: $0, critical: false, value: [5, 0])] } ?? [])
    }
}

/// The contents of a certificate; its content is the same in every process where the key is.
private struct Recipe {
    var subject: String
    var issuer: String
    var key: Certificate.PublicKey
    var signer: P256.Signing.PrivateKey
    /// Seconds since 1970, around `JWSSamples.now`.
    var first = 1_600_000_000.0
    var last = 2_000_000_000.0
    var extensions: [Certificate.Extension]

    /// The bytes that the issuer signs: tbsCertificate (RFC 5280 section 4.1.1.1).
    var content: [UInt8] {
        Harness.minted {
            let certificate = try Certificate(
                version: .v3, serialNumber: .init(bytes: [7]), publicKey: key,
                notValidBefore: Date(timeIntervalSince1970: first), notValidAfter: Date(timeIntervalSince1970: last),
                issuer: Self.distinguished(issuer), subject: Self.distinguished(subject),
                signatureAlgorithm: .ecdsaWithSHA256, extensions: .init(extensions),
                issuerPrivateKey: .init(signer))
            return Array(certificate.tbsCertificateBytes)
        }
    }

    private static func distinguished(_ name: String) throws -> DistinguishedName {
        try DistinguishedName {
            CountryName("US")
            OrganizationName("Paydesk Fuzz")
            CommonName(name)
        }
    }
}
