import Crypto
import Foundation
package import SwiftASN1
import X509

/// The signature of a token: a detached CMS message in BER of indefinite length, as Apple's are (RFC 5652).
package struct ApplePaySigner: Sendable {
    package enum Attribute: CaseIterable, Sendable { case contentType, signingTime, algorithmProtection, messageDigest }
    package enum Digest: Sendable { case sha1, sha256, sha384 }

    /// The identity that the message names as its signer.
    package var named: ApplePayIdentity
    /// The key that signs instead of the named identity's.
    package var key: ApplePayIdentity.Key?
    package var certificates: [[UInt8]]
    /// The time of the signature, in seconds since 1970-01-01 UTC.
    package var signedAt: Int64
    package var usesGeneralizedTime = false
    /// True for definite lengths only.
    package var isDER = false
    package var isAttached = false
    package var signers = 1
    package var digest = Digest.sha256
    package var digestHasParameters = true
    package var version: UInt8 = 1
    /// The identifier of the signature's algorithm; nil for that of the key.
    package var algorithm: [UInt8]?
    /// The signed attributes; nil for none, where the signature is over the content itself.
    package var attributes: [Attribute]? = Attribute.allCases
    package var isOrdered = true
    package var contentType: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 7, 1]
    package var messageDigest: [UInt8]?
    package var flipsSignature = false
    /// Signs the content although there are attributes.
    package var ignoresAttributes = false
    package var unsignedAttributes: [UInt8] = []

    func signature(over content: [UInt8]) -> [UInt8] {
        let info = info(over: content)
        let octets = isAttached ? [wrap(0xA0, [ApplePayDER.octets(content)])] : []
        let body = wrap(
            0x30,
            [
                [2, 1, version], ApplePayDER.element(0x31, [digestIdentifier]),
                wrap(0x30, [ApplePayDER.oid(Self.data)] + octets),
                certificates.isEmpty ? [] : wrap(0xA0, certificates),
                ApplePayDER.element(0x31, [[UInt8]](repeating: info, count: signers)),
            ])
        return wrap(0x30, [ApplePayDER.oid([1, 2, 840, 113_549, 1, 7, 2]), wrap(0xA0, [body])])
    }

    private func info(over content: [UInt8]) -> [UInt8] {
        let serial = named.certificate.serialNumber.bytes
        let name = ApplePayDER.sequence(
            ApplePayDER.serialized(named.certificate.issuer),
            ApplePayDER.element(0x02, [(serial.first ?? 0) & 0x80 == 0 ? [] : [0], Array(serial)]))
        let members = attributes.map { names in
            let encoded = names.map { attribute($0, content) }
            let sorted = encoded.sorted { $0.lexicographicallyPrecedes($1) }
            return isOrdered ? sorted : sorted.reversed()
        }
        let signed = ignoresAttributes ? content : members.map { ApplePayDER.element(0x31, $0) } ?? content
        var signature = sign(signed)
        if flipsSignature { signature[signature.count - 1] ^= 1 }
        return ApplePayDER.sequence(
            [2, 1, 1], name, digestIdentifier, members.map { ApplePayDER.element(0xA0, $0) } ?? [],
            signatureIdentifier, ApplePayDER.octets(signature), unsignedAttributes)
    }

    private func attribute(_ attribute: Attribute, _ content: [UInt8]) -> [UInt8] {
        let (number, value): (UInt, [UInt8]) =
            switch attribute {
            case .contentType: (3, ApplePayDER.oid(contentType))
            case .messageDigest: (4, ApplePayDER.octets(messageDigest ?? hash(content)))
            case .signingTime: (5, time)
            case .algorithmProtection:
                (
                    52,
                    ApplePayDER.sequence(
                        digestIdentifier, ApplePayDER.element(0xA1, [Array(signatureIdentifier.dropFirst(2))]))
                )
            }
        return ApplePayDER.sequence(
            ApplePayDER.oid([1, 2, 840, 113_549, 1, 9, number]), ApplePayDER.element(0x31, [value]))
    }

    private var time: [UInt8] {
        let digits = Date(timeIntervalSince1970: Double(signedAt)).formatted(.iso8601).filter(\.isNumber)
        return usesGeneralizedTime
            ? ApplePayDER.element(0x18, [Array("\(digits)Z".utf8)])
            : ApplePayDER.element(0x17, [Array("\(digits.dropFirst(2))Z".utf8)])
    }

    private func hash(_ bytes: [UInt8]) -> [UInt8] {
        switch digest {
        case .sha1: Array(Insecure.SHA1.hash(data: bytes))
        case .sha256: Array(SHA256.hash(data: bytes))
        case .sha384: Array(SHA384.hash(data: bytes))
        }
    }

    private func sign(_ bytes: [UInt8]) -> [UInt8] {
        let key = key ?? named.key
        return switch digest {
        case .sha1: key.sign(Insecure.SHA1.hash(data: bytes))
        case .sha256: key.sign(SHA256.hash(data: bytes))
        case .sha384: key.sign(SHA384.hash(data: bytes))
        }
    }

    private var digestIdentifier: [UInt8] {
        let name: ASN1ObjectIdentifier =
            switch digest {
            case .sha1: [1, 3, 14, 3, 2, 26]
            case .sha256: [2, 16, 840, 1, 101, 3, 4, 2, 1]
            case .sha384: [2, 16, 840, 1, 101, 3, 4, 2, 2]
            }
        return ApplePayDER.sequence(ApplePayDER.oid(name), digestHasParameters ? ApplePayDER.null : [])
    }

    private var signatureIdentifier: [UInt8] {
        if let algorithm { return algorithm }
        if case .rsa = key ?? named.key { return Self.rsaWithSHA256 }
        return ApplePayDER.sequence(ApplePayDER.oid([1, 2, 840, 10_045, 4, 3, 2]))
    }

    package static let rsaWithSHA256 = ApplePayDER.sequence(
        ApplePayDER.oid([1, 2, 840, 113_549, 1, 1, 11]), ApplePayDER.null)
    package static let rsa = ApplePayDER.sequence(
        ApplePayDER.oid([1, 2, 840, 113_549, 1, 1, 1]), ApplePayDER.null)
    private static let data: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 7, 1]

    private func wrap(_ tag: UInt8, _ parts: [[UInt8]]) -> [UInt8] {
        isDER ? ApplePayDER.element(tag, parts) : ApplePayDER.indefinite(tag, parts)
    }
}
