import Crypto
import Domain
import FoundationEssentials
import HTTPTypes

extension IDSource {
    /// Returns the caller's own request id where it is well formed, otherwise a new one.
    func requestID(_ own: String?) -> String {
        if let own, own.isWord(1...64, or: ".-") { return own }
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
        return "sha256:" + Hex.encoded(digest)
    }
}
