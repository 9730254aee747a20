import Crypto
import Domain
import FoundationEssentials
import HTTPTypes

extension IDSource {
    /// Returns the caller's own request id where it is well formed, otherwise a new one.
    func requestID(_ own: String?) -> String {
        func isPlain(_ byte: UInt8) -> Bool {
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                || byte == 0x2E || byte == 0x5F || byte == 0x2D
        }
        if let own, (1...64).contains(own.utf8.count), own.utf8.allSatisfy(isPlain) { return own }
        return make(Request.self).rawValue
    }
}

extension Call {
    /// The request id that the audit log stores for ever: Paydesk's own, or the digest of the caller's, which may
    /// contain a person's name.
    ///
    /// The digest, by which entries are found, is "sha256:" and the first 32 hexadecimal digits.
    var auditedRequestID: String {
        guard request.headerFields[.requestID] == requestID else { return requestID }
        let digest = SHA256.hash(data: Data(requestID.utf8)).prefix(16)
        return "sha256:" + digest.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }
}
