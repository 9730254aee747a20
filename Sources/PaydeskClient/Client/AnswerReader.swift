import Foundation

/// Reads the server's answers (`api.md` section 1).
enum AnswerReader {
    /// The `data` of a success.
    ///
    /// - Throws: the refusal; `foreignAnswer` for anything that is not an envelope of Paydesk's with the same code.
    static func data<Value: Decodable>(_ type: Value.Type, _ reply: ClientReply) throws -> Value {
        guard reply.status == 200 else { throw refusal(reply) }
        do {
            let envelope = try JSONDecoder().decode(Envelope<Value>.self, from: reply.body)
            guard envelope.code == 200 else { throw PaydeskError.foreignAnswer(status: reply.status) }
            return envelope.data
        } catch { throw PaydeskError.foreignAnswer(status: reply.status) }
    }

    /// The refusal of an error answer; `foreignAnswer` where it is not in Paydesk's form.
    ///
    /// The head alone is enough for a stream, whose refusal has no body here.
    static func refusal(_ reply: ClientReply) -> PaydeskError {
        let retryAfter = reply.headers["retry-after"].flatMap { Int64($0) }.map { max(0, $0) }
        guard let fault = try? JSONDecoder().decode(Fault.self, from: reply.body), fault.code == reply.status else {
            guard reply.body.isEmpty, reply.headers["x-request-id"] != nil else {
                return .foreignAnswer(status: reply.status)
            }
            return .refused(
                Refusal(
                    status: reply.status, error: nil, id: "", message: "", requestID: reply.headers["x-request-id"],
                    details: [:], retryAfter: retryAfter))
        }
        return .refused(
            Refusal(
                status: reply.status, error: ErrorID(rawValue: fault.error), id: fault.error, message: fault.msg,
                requestID: fault.requestID, details: fault.details ?? [:], retryAfter: retryAfter))
    }

    private struct Envelope<Value: Decodable>: Decodable {
        let code: Int
        let data: Value
    }

    private struct Fault: Decodable {
        let code: Int
        let msg: String
        let error: String
        let details: [String: AttributeValue]?
        let requestID: String?

        enum CodingKeys: String, CodingKey {
            case code, msg, error, details
            case requestID = "request_id"
        }
    }
}
