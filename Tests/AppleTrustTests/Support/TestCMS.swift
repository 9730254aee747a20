import Crypto
import SwiftASN1
import X509

/// A digest that a signer may use.
enum TestDigest: String, CaseIterable, Sendable {
    case sha1, sha256, sha384

    var oid: ASN1ObjectIdentifier {
        switch self {
        case .sha1: [1, 3, 14, 3, 2, 26]
        case .sha256: [2, 16, 840, 1, 101, 3, 4, 2, 1]
        case .sha384: [2, 16, 840, 1, 101, 3, 4, 2, 2]
        }
    }

    var identifier: [UInt8] { TestDER.sequence(TestDER.oid(oid), TestDER.null) }

    func hash(_ data: [UInt8]) -> [UInt8] {
        switch self {
        case .sha1: Array(Insecure.SHA1.hash(data: data))
        case .sha256: Array(SHA256.hash(data: data))
        case .sha384: Array(SHA384.hash(data: data))
        }
    }

    func sign(_ data: [UInt8], by key: TestKey) -> [UInt8] {
        switch self {
        case .sha1: key.sign(Insecure.SHA1.hash(data: data))
        case .sha256: key.sign(SHA256.hash(data: data))
        case .sha384: key.sign(SHA384.hash(data: data))
        }
    }
}

/// How one SignerInfo is made (RFC 5652 section 5.3).
struct TestSigner: Sendable {
    static let contentType: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 9, 3]
    static let messageDigest: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 9, 4]
    static let rsa = TestDER.sequence(TestDER.oid([1, 2, 840, 113_549, 1, 1, 1]), TestDER.null)

    /// Who is named, and signs.
    var identity: TestIdentity
    /// Signs instead of the one who is named.
    var key: TestKey?
    var digest = TestDigest.sha256
    var version: Int64 = 1
    /// Instead of issuer and serial number.
    var name: [UInt8]?
    var digestIdentifier: [UInt8]?
    var algorithm = rsa
    /// The signed attributes for a content's digest; nil for none.
    var attributes: (@Sendable (_ digest: [UInt8]) -> [[UInt8]])?
    /// How the attributes stand in the message.
    var attributesOnWire: @Sendable ([[UInt8]]) -> [UInt8] = { TestDER.element(0xA0, $0) }
    var signature: @Sendable ([UInt8]) -> [UInt8] = { $0 }
    /// Behind the signature.
    var unsigned: [UInt8] = []

    /// Two sound attributes.
    @Sendable static func sound(_ digest: [UInt8]) -> [[UInt8]] {
        [attribute(contentType, TestDER.oid(TestCMS.data)), attribute(messageDigest, TestDER.octets(digest))]
    }

    static func attribute(_ name: ASN1ObjectIdentifier, _ values: [UInt8]...) -> [UInt8] {
        TestDER.sequence(TestDER.oid(name), TestDER.set(values))
    }

    func info(over content: [UInt8]) -> [UInt8] {
        let members = attributes.map { $0(digest.hash(content)) }
        let signed = members.map { TestDER.element(0x31, $0) } ?? content
        let serial = identity.certificate.serialNumber.bytes
        return TestDER.sequence(
            TestDER.integer(version),
            name
                ?? TestDER.sequence(
                    TestDER.serialized(identity.certificate.issuer),
                    TestDER.element(0x02, (serial.first ?? 0) & 0x80 == 0 ? [] : [0], Array(serial))),
            digestIdentifier ?? digest.identifier, members.map(attributesOnWire) ?? [], algorithm,
            TestDER.octets(signature(digest.sign(signed, by: key ?? identity.key))), unsigned)
    }
}

/// How a CMS message is put together (RFC 5652 section 5.1).
struct TestCMS: Sendable {
    static let data: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 7, 1]
    static let signedData: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 7, 2]

    enum Encoding: String, CaseIterable, Sendable {
        case der
        /// Indefinite lengths outside, the content in one piece.
        case indefinite
        /// And the content in pieces.
        case segmented
        /// And pieces of pieces.
        case nested
        /// Definite lengths, written with more octets than they need.
        case longLengths
    }

    var encoding = Encoding.der
    var type = signedData
    var contentType = data
    var version: Int64 = 1
    var digests = [TestDigest.sha256.identifier]
    /// Nil where it is detached.
    var content: [UInt8]?
    var certificates: [[UInt8]] = []
    var signers: [[UInt8]] = []

    var bytes: [UInt8] {
        let body = outer(
            0x30,
            [
                TestDER.integer(version), TestDER.set(digests),
                outer(0x30, [TestDER.oid(contentType)] + (content.map { [outer(0xA0, [octets($0)])] } ?? [])),
                certificates.isEmpty ? [] : outer(0xA0, certificates), TestDER.element(0x31, signers),
            ])
        return outer(0x30, [TestDER.oid(type), outer(0xA0, [body])])
    }

    private func outer(_ tag: UInt8, _ parts: [[UInt8]]) -> [UInt8] {
        switch encoding {
        case .der: TestDER.element(tag, parts)
        case .longLengths: Self.long(tag, Array(parts.joined()))
        case .indefinite, .segmented, .nested: TestDER.indefinite(tag, parts)
        }
    }

    private func octets(_ content: [UInt8]) -> [UInt8] {
        switch encoding {
        case .der, .indefinite: TestDER.octets(content)
        case .longLengths: Self.long(0x04, content)
        case .segmented: TestDER.indefinite(0x24, Self.pieces(content, 100).map(TestDER.octets))
        case .nested:
            TestDER.indefinite(
                0x24,
                Self.pieces(content, 300).map { piece in
                    TestDER.element(0x24, Self.pieces(piece, 90).map(TestDER.octets))
                } + [TestDER.octets([])])
        }
    }

    private static func long(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        [tag, 0x84] + (0..<4).map { UInt8(truncatingIfNeeded: content.count >> (24 - 8 * $0)) } + content
    }

    private static func pieces(_ bytes: [UInt8], _ size: Int) -> [[UInt8]] {
        stride(from: 0, to: bytes.count, by: size).map { Array(bytes[$0..<min($0 + size, bytes.count)]) }
    }
}
