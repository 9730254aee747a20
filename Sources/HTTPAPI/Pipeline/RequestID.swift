import Crypto
import Domain
import FoundationEssentials
import HTTPTypes

extension IDSource {
    /// The caller's own id where it is well formed, else a new one.
    func requestID(_ own: String?) -> String {
        if let own, own.isWord(1...64, or: ".-") { return own }
        return make(Request.self).rawValue
    }
}

extension Call {
    /// The request id as the audit keeps it for ever: our own, or the digest of one that the caller chose, who may have made
    /// it of a person's name.
    ///
    /// Whoever knows a caller's id finds what was done under it by the same digest: "sha256:" and the first 32 hexadecimal
    /// digits.
    var auditedRequestID: String {
        guard request.headerFields[.requestID] == requestID else { return requestID }
        let digest = SHA256.hash(data: Data(requestID.utf8)).prefix(16)
        return "sha256:" + Hex.encoded(digest)
    }
}
