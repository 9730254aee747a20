import Crypto
import FoundationEssentials

/// Data that WeChat Pay encrypts with the APIv3 key: the contents of notifications, and its platform certificates.
///
/// The algorithm is `AEAD_AES_256_GCM`, with the tag in the last 16 bytes of the ciphertext
/// (pay.weixin.qq.com/doc/v3/merchant/4012071382).
struct WeChatPayResource: Decodable, Sendable {
    static let algorithm = "AEAD_AES_256_GCM"
    private static let tagSize = 16

    enum Fault: Error, Sendable, Equatable {
        case algorithm, nonce, ciphertext
        /// The key is wrong, or the data was altered.
        case authentication
    }

    let algorithm: String
    let ciphertext: String
    let nonce: String
    let associated_data: String?

    /// - Parameter key: the key's bytes; the settings check that the APIv3 key has 32.
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
