import Crypto
import Domain
import FoundationEssentials
import ProviderKit
import _CryptoExtras

/// The signature of requests: RSA-SHA256, PKCS #1 v1.5, over `METHOD\n target\n timestamp\n nonce\n body\n`.
///
/// Source: pay.weixin.qq.com/doc/v3/merchant/4012365336.
struct WeChatPaySigner: Sendable {
    static let scheme = "WECHATPAY2-SHA256-RSA2048"

    let mchid: String
    let identity: WeChatPayIdentity

    /// Returns the value of `Authorization`.
    ///
    /// - Parameter target: the exact path and query.
    /// - Returns: nil where the key cannot sign.
    func authorization(_ method: String, _ target: String, _ body: Data, at time: Timestamp, nonce: String) -> String? {
        let head = "\(method)\n\(target)\n\(time.rawValue)\n\(nonce)\n"
        let text = Data(head.utf8) + body + Data("\n".utf8)
        guard let signature = try? identity.key.value.signature(for: text, padding: .insecurePKCS1v1_5) else {
            return nil
        }
        return "\(Self.scheme) mchid=\"\(mchid)\",nonce_str=\"\(nonce)\","
            + "signature=\"\(signature.rawRepresentation.base64EncodedString())\",timestamp=\"\(time.rawValue)\","
            + "serial_no=\"\(identity.serial)\""
    }
}

/// The signature of WeChat Pay's answers and notifications: `timestamp\n nonce\n body\n`, in four headers.
///
/// Source: pay.weixin.qq.com/doc/v3/merchant/4013053249.
struct WeChatPaySignature: Sendable {
    /// The seconds by which a signature's time may differ from ours, in both directions.
    static let window: Int64 = 300
    /// The start of the signatures of WeChat Pay's probes, which must be refused.
    static let probe = "WECHATPAY/SIGNTEST/"

    let time: Timestamp
    let nonce: String
    /// The serial number of a platform certificate in normal form, or the id of a public key.
    let serial: String
    private let signature: Data

    /// - Parameter headers: the headers, with names in any case.
    /// - Throws: `unproven` unless each header is present once and well-formed, and its time is recent.
    init(_ headers: [(name: String, value: String)], now: Timestamp) throws(ProviderError) {
        func value(_ name: String) throws(ProviderError) -> String {
            let values = headers.filter { $0.name.lowercased() == name }.map(\.value)
            guard values.count == 1 else { throw .unproven(.signature) }
            return values[0]
        }
        let type = headers.first { $0.name.lowercased() == "wechatpay-signature-type" }?.value
        guard type ?? WeChatPaySigner.scheme == WeChatPaySigner.scheme else { throw .unproven(.signature) }
        let text = try value("wechatpay-signature")
        guard !text.hasPrefix(Self.probe), text.utf8.count <= 2_048,
            let signature = Data(base64Encoded: text), !signature.isEmpty
        else { throw .unproven(.signature) }
        let digits = try value("wechatpay-timestamp")
        guard digits.isDigits(1...15),
            let seconds = Int64(digits), digits == String(seconds)
        else { throw .unproven(.signature) }
        time = Timestamp(seconds)
        guard (now.adding(seconds: -Self.window)...now.adding(seconds: Self.window)).contains(time) else {
            throw .unproven(.time)
        }
        nonce = try value("wechatpay-nonce")
        guard nonce.hasBytes(1...128, where: \.isVisible) else {
            throw .unproven(.signature)
        }
        let name = try value("wechatpay-serial")
        guard
            let serial = name.hasPrefix(WeChatPayPublicKey.prefix)
                ? WeChatPayText.word(name) : WeChatPayText.serial(name)
        else { throw .unproven(.signature) }
        self.serial = serial
        self.signature = signature
    }

    func isGood(_ body: Data, by key: _RSA.Signing.PublicKey) -> Bool {
        let text = Data("\(time.rawValue)\n\(nonce)\n".utf8) + body + Data("\n".utf8)
        return key.isValidSignature(
            _RSA.Signing.RSASignature(rawRepresentation: signature), for: text, padding: .insecurePKCS1v1_5)
    }
}
