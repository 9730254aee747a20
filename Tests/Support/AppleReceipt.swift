import Crypto
package import Domain
import Foundation
import SwiftASN1
import X509
import _CryptoExtras

/// An app receipt to sign: the facts about its app, and its purchases.
package struct AppleReceipt: Sendable {
    /// The path of the root's file, for the `root_certificates` of an account.
    package static let rootFile = AppleTestCertificates.file("receipt_root.der", root.der)

    package var type = "Production"
    package var bundle = "com.example.app"
    package var created: Int64
    package var sales: [AppleSale]
    /// The ids of sales that are in a free trial.
    package var trials: Set<String> = []
    /// A purchase that is added after the signature.
    package var forged: AppleSale?
    package var isUnsigned = false
    /// True for another message around the same signed content.
    package var hasAnotherEnvelope = false

    package init(
        _ sales: [AppleSale], at created: Timestamp, _ edit: (inout AppleReceipt) -> Void = { _ in }
    ) {
        self.sales = sales
        self.created = created.rawValue * 1_000
        edit(&self)
    }

    package var base64: String { Data(message).base64EncodedString() }

    private struct Signer {
        let der: Data
        let key: _RSA.Signing.PrivateKey
    }

    private static let root = signer("Mint Receipt Root", by: nil, isAuthority: true)
    private static let middle = signer(
        "Mint Receipt WWDR", by: ("Mint Receipt Root", root.key), isAuthority: true,
        marker: [1, 2, 840, 113_635, 100, 6, 2, 1])
    private static let leaf = signer(
        "Mint Receipt Signing", by: ("Mint Receipt WWDR", middle.key), isAuthority: false,
        marker: [1, 2, 840, 113_635, 100, 6, 11, 1])

    private static func signer(
        _ name: String, by issuer: (name: String, key: _RSA.Signing.PrivateKey)?, isAuthority: Bool,
        marker: ASN1ObjectIdentifier? = nil
    ) -> Signer {
        AppleTestCertificates.made {
            let key = try _RSA.Signing.PrivateKey(keySize: .bits2048)
            let der = AppleTestCertificates.certificate(
                name, .init(key.publicKey), issuer?.name, .init(issuer?.key ?? key), isAuthority ? .authority : .leaf,
                marker: marker)
            return Signer(der: der, key: key)
        }
    }

    private var message: [UInt8] {
        let signed = attributes(sales)
        let content = forged.map { attributes(sales + [$0]) } ?? signed
        let signature = AppleTestCertificates.made {
            try Self.leaf.key.signature(for: SHA256.hash(data: Data(signed)), padding: .insecurePKCS1v1_5)
                .rawRepresentation
        }
        let sha256 = tlv(0x30, tlv(0x06, [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01]) + tlv(0x05, []))
        let rsa = tlv(0x30, tlv(0x06, [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01]) + tlv(0x05, []))
        let name = tlv(0x30, Self.issuerOfLeaf + Self.serialOfLeaf)
        let info = tlv(0x30, integer(1) + name + sha256 + rsa + tlv(0x04, Array(signature)))
        let data = tlv(0x30, Self.oid(1) + tlv(0xA0, tlv(0x04, content)))
        let certificates = tlv(
            0xA0,
            ([Self.leaf, Self.middle, Self.root] + (hasAnotherEnvelope ? [Self.root] : [])).flatMap { Array($0.der) })
        let body = integer(1) + tlv(0x31, sha256) + data + certificates + tlv(0x31, isUnsigned ? [] : info)
        return tlv(0x30, Self.oid(2) + tlv(0xA0, tlv(0x30, body)))
    }

    /// `pkcs-7` and a number: 1 is data, 2 signed data.
    private static func oid(_ number: UInt8) -> [UInt8] {
        tlv(0x06, [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, number])
    }

    private static let issuerOfLeaf: [UInt8] = AppleTestCertificates.made {
        var serializer = DER.Serializer()
        try serializer.serialize(try Certificate(derEncoded: Array(middle.der)).subject)
        return serializer.serializedBytes
    }
    private static let serialOfLeaf: [UInt8] = AppleTestCertificates.made {
        tlv(0x02, Array(try Certificate(derEncoded: Array(leaf.der)).serialNumber.bytes))
    }

    private func attributes(_ sales: [AppleSale]) -> [UInt8] {
        let date = text(0x16, Self.date(created))
        let purchases = sales.flatMap { attribute(17, purchase($0)) }
        let own = attribute(0, text(0x0C, type)) + attribute(2, text(0x0C, bundle)) + attribute(12, date)
        return tlv(0x31, own + attribute(3, text(0x0C, "7")) + attribute(19, text(0x0C, "1.0")) + purchases)
    }

    private func purchase(_ sale: AppleSale) -> [UInt8] {
        let kinds = [AppleSale.nonConsumable, AppleSale.consumable, AppleSale.pass, AppleSale.subscription]
        let kind = kinds.firstIndex(of: sale.kind).map { attribute(1_707, integer($0)) } ?? []
        func date(_ type: Int, _ milliseconds: Int64?) -> [UInt8] {
            attribute(type, text(0x16, milliseconds.map(Self.date) ?? ""))
        }
        return tlv(
            0x31,
            attribute(1_701, integer(Int(sale.quantity ?? 1))) + attribute(1_702, text(0x0C, sale.product))
                + attribute(1_703, text(0x0C, sale.id)) + date(1_704, sale.purchased)
                + attribute(1_705, text(0x0C, sale.original ?? sale.id)) + date(1_706, sale.purchased) + kind
                + date(1_708, sale.expires) + attribute(1_711, integer(sale.line.flatMap { Int($0) } ?? 0))
                + date(1_712, sale.revoked) + attribute(1_713, integer(trials.contains(sale.id) ? 1 : 0)))
    }

    private static func date(_ milliseconds: Int64) -> String {
        Date(timeIntervalSince1970: Double(milliseconds / 1_000)).formatted(.iso8601)
    }
}

private func tlv(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
    guard content.count >= 0x80 else { return [tag, UInt8(content.count)] + content }
    let octets = Swift.withUnsafeBytes(of: content.count.bigEndian) { Array($0.drop { $0 == 0 }) }
    return [tag, 0x80 | UInt8(octets.count)] + octets + content
}

private func integer(_ value: Int) -> [UInt8] {
    let octets = Swift.withUnsafeBytes(of: value.bigEndian) { Array($0.drop { $0 == 0 }) }
    return tlv(0x02, octets.first.map { $0 & 0x80 != 0 ? [0] + octets : octets } ?? [0])
}

private func text(_ tag: UInt8, _ text: String) -> [UInt8] { tlv(tag, Array(text.utf8)) }

private func attribute(_ type: Int, _ value: [UInt8]) -> [UInt8] {
    tlv(0x30, integer(type) + integer(1) + tlv(0x04, value))
}
