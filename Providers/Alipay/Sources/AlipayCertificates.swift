import Crypto
import Domain
import FoundationEssentials
import SwiftASN1
import X509
import _CryptoExtras

/// Certificate mode: the certificates that a request names, and those of Alipay's that verify an answer.
struct AlipayCertificates: Sendable {
    /// A certificate of Alipay's, with the number by which an answer names it.
    struct Signer: Sendable {
        let number: String
        let key: AlipayPublicKey
        let notAfter: Timestamp

        init?(_ certificate: Certificate) {
            guard let key = AlipayCertificates.key(certificate) else { return nil }
            self.key = key
            number = AlipayCertificates.number(certificate)
            notAfter = AlipayCertificates.end(certificate)
        }
    }

    let applicationNumber: String
    let applicationKey: AlipayPublicKey
    let applicationNotAfter: Timestamp
    /// The numbers of the root file's RSA certificates, joined by `_`.
    let rootNumber: String
    let signers: [Signer]

    /// - Parameter fault: is called with each setting that has no certificate.
    static func read(
        application: String, root: String, alipay: [String], fault: (_ setting: String) -> Void
    ) -> AlipayCertificates? {
        let own = certificates(application).first
        let roots = certificates(root).filter(isSignedByRSA)
        // The first certificate of a file is Alipay's; the others lead to the root.
        let signers = alipay.map { certificates($0).first.flatMap(Signer.init) }
        if own.flatMap(key) == nil { fault("app_certificate") }
        if roots.isEmpty { fault("alipay_root_certificate") }
        if signers.contains(where: { $0 == nil }) { fault("alipay_certificates") }
        guard let own, let key = key(own), !roots.isEmpty, !signers.contains(where: { $0 == nil }) else { return nil }
        return AlipayCertificates(
            applicationNumber: number(own), applicationKey: key, applicationNotAfter: end(own),
            rootNumber: roots.map(number).joined(separator: "_"), signers: signers.compactMap(\.self))
    }

    /// Returns the readable certificates of a PEM text; Alipay's root file has some with algorithms that are not
    /// needed.
    private static func certificates(_ text: String) -> [Certificate] {
        text.components(of: "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----").compactMap { base64 in
            Data(base64Encoded: base64.filter { !$0.isWhitespace }).flatMap { try? Certificate(derEncoded: Array($0)) }
        }
    }

    private static func isSignedByRSA(_ certificate: Certificate) -> Bool {
        [.sha1WithRSAEncryption, .sha256WithRSAEncryption, .sha384WithRSAEncryption, .sha512WithRSAEncryption]
            .contains(certificate.signatureAlgorithm)
    }

    private static func key(_ certificate: Certificate) -> AlipayPublicKey? {
        _RSA.Signing.PublicKey(certificate.publicKey).map(AlipayPublicKey.init)
    }

    private static func end(_ certificate: Certificate) -> Timestamp {
        Timestamp(Int64(certificate.notValidAfter.timeIntervalSince1970))
    }

    /// Returns the MD5, in hexadecimal, of the issuer's name (RFC 2253) and the serial number in decimal.
    private static func number(_ certificate: Certificate) -> String {
        let text = "\(certificate.issuer)\(decimal(certificate.serialNumber.bytes))"
        return Hex.encoded(Insecure.MD5.hash(data: Data(text.utf8)))
    }

    /// Formats a big-endian number of any size in decimal digits.
    static func decimal(_ bytes: some Sequence<UInt8>) -> String {
        var digits: [UInt8] = [0]
        for byte in bytes {
            var carry = Int(byte)
            for index in digits.indices {
                let value = Int(digits[index]) * 256 + carry
                digits[index] = UInt8(value % 10)
                carry = value / 10
            }
            while carry > 0 {
                digits.append(UInt8(carry % 10))
                carry /= 10
            }
        }
        return digits.reversed().map { String($0) }.joined()
    }
}

extension String {
    /// Returns the texts between each pair of marks.
    fileprivate func components(of begin: String, _ end: String) -> [Substring] {
        var (found, rest) = ([Substring](), self[...])
        while let start = rest.firstRange(of: begin), let stop = rest[start.upperBound...].firstRange(of: end) {
            found.append(rest[start.upperBound..<stop.lowerBound])
            rest = rest[stop.upperBound...]
        }
        return found
    }
}
