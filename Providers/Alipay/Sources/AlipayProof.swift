import Foundation
import ProviderKit

/// The verification of Alipay's answers and notifications, by its public key or by its certificates.
enum AlipayProof: Sendable {
    case publicKey(AlipayPublicKey)
    case certificates(AlipayCertificates)

    typealias Fault = (_ setting: String, _ problem: String, _ remedy: String) -> Void

    /// - Parameter own: the application's key, which cannot verify Alipay's signatures.
    /// - Returns: nil where neither mode is complete; each fault is reported.
    static func read(_ settings: ProviderSettings, _ own: AlipayPublicKey?, fault: Fault) -> AlipayProof? {
        let isCertificateMode =
            !settings.texts("alipay_certificates").isEmpty || !settings.text("app_certificate").isEmpty
            || !settings.text("alipay_root_certificate").isEmpty
        let text = settings.text("alipay_public_key")
        guard !isCertificateMode else {
            guard text.isEmpty else {
                fault(
                    "alipay_public_key", "is set beside certificates",
                    "set one of the two modes, as in Alipay's console")
                return nil
            }
            return certificates(settings, own, fault: fault)
        }
        let copy = "copy Alipay's public key (支付宝公钥) of the application's page"
        guard let key = AlipayPublicKey(text) else {
            fault(
                "alipay_public_key", text.isEmpty ? "is missing" : "is no RSA public key of 2,048 bits or more",
                "\(copy), or set the three certificates")
            return nil
        }
        guard key != own else {
            // The most common mistake: with this key every answer would be refused.
            fault("alipay_public_key", "is the application's own public key", copy)
            return nil
        }
        return .publicKey(key)
    }

    private static func certificates(
        _ settings: ProviderSettings, _ own: AlipayPublicKey?, fault: Fault
    ) -> AlipayProof? {
        let download = "download the three files of certificate mode from Alipay's console"
        let files = settings.texts("alipay_certificates")
        let missing = ["app_certificate", "alipay_root_certificate"].filter { settings.text($0).isEmpty }
        guard missing.isEmpty, !files.isEmpty else {
            for name in missing + (files.isEmpty ? ["alipay_certificates"] : []) {
                fault(name, "is missing, and certificate mode needs it", download)
            }
            return nil
        }
        let read = AlipayCertificates.read(
            application: text(settings.text("app_certificate")), root: text(settings.text("alipay_root_certificate")),
            alipay: files.map(text)
        ) { fault($0, "has no RSA certificate that can be read", download) }
        guard let read else { return nil }
        if let own, read.applicationKey != own {
            fault(
                "app_certificate", "is not of app_private_key", "use the key whose request (CSR) made the certificate")
            return nil
        }
        guard !read.signers.contains(where: { $0.key == read.applicationKey }) else {
            fault("alipay_certificates", "has the application's own certificate", download)
            return nil
        }
        return .certificates(read)
    }

    private static func text(_ path: String) -> String {
        String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
    }

    /// Returns whether a certificate's number is one of Alipay's here; true without a number, and with a public key.
    func knows(_ number: String?) -> Bool {
        switch self {
        case .publicKey: true
        case .certificates(let certificates): number == nil || certificates.signers.contains { $0.number == number }
        }
    }

    /// Returns whether Alipay signed a text.
    ///
    /// - Parameter number: the number of the certificate in the answer; nil where it has none.
    func isProven(_ text: Data, _ signature: String, by number: String?) -> Bool {
        switch self {
        case .publicKey(let key): key.isSignature(signature, of: text)
        case .certificates(let certificates):
            certificates.signers.contains {
                (number == nil || $0.number == number) && $0.key.isSignature(signature, of: text)
            }
        }
    }

    /// The additional parameters of each request in certificate mode.
    var parameters: [String: String] {
        switch self {
        case .publicKey: [:]
        case .certificates(let certificates):
            [
                "app_cert_sn": certificates.applicationNumber, "alipay_root_cert_sn": certificates.rootNumber,
            ]
        }
    }
}
