import Crypto
import FoundationEssentials

/// The data that WeChat Pay encrypts with the APIv3 key: the contents of notifications, and its platform certificates.
///
/// `AEAD_AES_256_GCM`, the tag being the ciphertext's last 16 bytes (pay.weixin.qq.com/doc/v3/merchant/4012071382).
struct WeChatPayResource: Decodable, Sendable {
    static let algorithm = "AEAD_AES_256_GCM"
    private static let tagSize = 16

    enum Fault: Error, Sendable, Equatable {
        case algorithm, nonce, ciphertext
        /// The key is another one, or something was altered.
        case authentication
    }

    let algorithm: String
    let ciphertext: String
    let nonce: String
    let associated_data: String?

    /// - Parameter key: as many bytes as it has; that the APIv3 key has 32 is the settings' matter.
    func opened(by key: [UInt8]) throws(Fault) -> Data {
        guard algorithm == Self.algorithm else { throw .algorithm }
        guard nonce.utf8.count == 12, let iv = try? AES.GCM.Nonce(data: Data(nonce.utf8)) else { throw .nonce }
        guard let bytes = Data(base64Encoded: ciphertext), bytes.count >= Self.tagSize,
            let box = try? AES.GCM.SealedBox(
                nonce: iv, ciphertext: bytes.dropLast(Self.tagSize), tag: bytes.suffix(Self.tagSize))
        else { throw .ciphertext }
        let extra = Data((associated_data ?? "").utf8)
        guard let plain = try? AES.GCM.open(box, using: SymmetricKey(data: key), authenticating: extra) else {
            throw .authentication
        }
        return plain
    }
}
