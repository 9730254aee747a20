import FoundationEssentials
import Gateway
import HTTPTypes

/// A refusal as an idempotency key keeps it: both languages, so that a replay speaks the caller's.
struct StoredAnswer: Codable {
    let error: String
    let english: String
    let chinese: String
    let details: [String: String]

    init(_ error: GatewayError) {
        let reply = ErrorReply(error)
        self.error = reply.id
        english = reply.english
        chinese = reply.chinese
        details = reply.details
    }

    func reply(status: Int) -> ErrorReply {
        ErrorReply(
            status: HTTPResponse.Status(code: status), id: error, english: english, chinese: chinese, details: details)
    }

    /// Stands for an answer that showed a secret and is therefore not kept.
    static let secretMark = Data("secret".utf8)
}
