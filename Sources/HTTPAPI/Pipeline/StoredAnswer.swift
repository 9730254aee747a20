import Domain
import FoundationEssentials
import Gateway
import HTTPTypes

/// A refusal that is stored for an idempotency key, in both languages, so that a repetition uses the language of its
/// own caller.
struct StoredAnswer: Codable {
    let error: String
    let english: String
    let chinese: String
    let details: [String: JSONValue]

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
}

/// The stored part of an answer that showed a secret: the object that it was about.
struct SecretOutcome: Codable {
    /// The object's id.
    let resource: String

    private enum CodingKeys: String, CodingKey { case resource = "resource_of_secret" }

    /// Reads a stored outcome; nil for an answer that is stored whole.
    init?(_ stored: Data) {
        guard let outcome = try? JSONDecoder().decode(SecretOutcome.self, from: stored) else { return nil }
        self = outcome
    }

    private init(resource: String) { self.resource = resource }

    static func of(_ data: Data) throws(GatewayError) -> Data {
        struct Identified: Decodable { let id: String }
        guard let shown = try? JSONDecoder().decode(Identified.self, from: data) else { throw .internalError }
        return try Answer.encode(SecretOutcome(resource: shown.id))
    }
}
