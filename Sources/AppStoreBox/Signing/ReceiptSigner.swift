import Crypto
import Domain
import SwiftASN1
import X509
import _CryptoExtras

/// Signs app receipts as Apple does: PKCS #7 SignedData without signed attributes, RSA by PKCS #1 v1.5 over SHA-256, the
/// three certificates inside (RFC 5652 section 5; Apple, TN3138).
package struct ReceiptSigner: Sendable {
    private let key: _RSA.Signing.PrivateKey
    private let chain: BoxAuthority.Chain
    private let leaf: Certificate

    private let app: BoxApp

    /// The most purchases of one receipt; the newest are kept.
    static let purchases = 4_000

    package init(_ authority: BoxAuthority, app: BoxApp) throws(BoxAuthorityError) {
        self.app = app
        key = try authority.receiptSigner()
        chain = authority.receipts
        do { leaf = try Certificate(derEncoded: authority.receipts.leaf) } catch { throw .damaged }
    }

    /// Signs the receipt of a customer.
    ///
    /// - Parameters:
    ///   - rows: the purchases of one customer.
    ///   - now: business milliseconds since 1970.
    /// - Returns: the message in base64.
    package func receipt(of rows: [BoxTransaction], at now: Int64) throws(BoxAuthorityError) -> String {
        let newest = rows.sorted { $0.purchasedAt < $1.purchasedAt }.suffix(Self.purchases)
        return try sign(
            ReceiptContent(
                bundleID: app.bundleID, createdAt: now, purchases: newest.map(ReceiptContent.Purchase.init)))
    }

    /// Signs a receipt.
    ///
    /// - Returns: the message in base64.
    /// - Throws: `damaged` for a text that ASN.1 cannot say.
    func sign(_ receipt: ReceiptContent) throws(BoxAuthorityError) -> String {
        do {
            let content = try receipt.encoded()
            let signature = try key.signature(for: SHA256.hash(data: content), padding: .insecurePKCS1v1_5)
            return Base64.encode(try message(content, Array(signature.rawRepresentation)))
        } catch {
            throw .damaged
        }
    }

    private func message(_ content: [UInt8], _ signature: [UInt8]) throws -> [UInt8] {
        var serializer = DER.Serializer()
        try serializer.appendConstructedNode(identifier: .sequence) { info in
            try info.serialize(CMS.signedData)
            try info.appendConstructedNode(identifier: .context(0)) { wrapper in
                try wrapper.appendConstructedNode(identifier: .sequence) { data in
                    try data.serialize(1)
                    try data.appendConstructedNode(identifier: .set) { try $0.algorithm(CMS.sha256) }
                    try data.appendConstructedNode(identifier: .sequence) { encapsulated in
                        try encapsulated.serialize(CMS.data)
                        try encapsulated.appendConstructedNode(identifier: .context(0)) {
                            try $0.serialize(ASN1OctetString(contentBytes: content[...]))
                        }
                    }
                    data.appendConstructedNode(identifier: .context(0)) {
                        for der in [chain.leaf, chain.intermediate, chain.root] { $0.serializeRawBytes(der) }
                    }
                    try data.appendConstructedNode(identifier: .set) { try append(signature, to: &$0) }
                }
            }
        }
        return serializer.serializedBytes
    }

    private func append(_ signature: [UInt8], to serializer: inout DER.Serializer) throws {
        try serializer.appendConstructedNode(identifier: .sequence) { signer in
            try signer.serialize(1)
            try signer.appendConstructedNode(identifier: .sequence) { name in
                try name.serialize(leaf.issuer)
                name.appendPrimitiveNode(identifier: .integer) { $0 += leaf.serialNumber.bytes }
            }
            try signer.algorithm(CMS.sha256)
            try signer.algorithm(CMS.rsa)
            try signer.serialize(ASN1OctetString(contentBytes: signature[...]))
        }
    }
}

/// The object identifiers of a receipt's message.
private enum CMS {
    static let data: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 7, 1]
    static let signedData: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 7, 2]
    static let sha256: ASN1ObjectIdentifier = [2, 16, 840, 1, 101, 3, 4, 2, 1]
    static let rsa: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 1, 1]
}

extension ASN1Identifier {
    fileprivate static func context(_ number: UInt) -> ASN1Identifier {
        ASN1Identifier(tagWithNumber: number, tagClass: .contextSpecific)
    }
}

extension DER.Serializer {
    /// Appends an AlgorithmIdentifier with NULL for its parameters.
    fileprivate mutating func algorithm(_ name: ASN1ObjectIdentifier) throws {
        try appendConstructedNode(identifier: .sequence) { sequence in
            try sequence.serialize(name)
            try sequence.serialize(ASN1Null())
        }
    }
}
