import Crypto
import Domain
import FoundationEssentials

/// Entity tags over the bytes of an answer's `data` (RFC 9110 sections 8.8.3 and 13.1.2).
enum ETag {
    static func of(_ data: Data) -> String {
        "\"\(Hex.encoded(SHA256.hash(data: data).prefix(16)))\""
    }

    static func matches(_ header: String?, _ tag: String) -> Bool {
        guard let header else { return false }
        return header.split(separator: ",").contains { candidate in
            let candidate = candidate.filter { $0 != " " }
            return candidate == "*" || candidate == tag || candidate == "W/" + tag
        }
    }
}
