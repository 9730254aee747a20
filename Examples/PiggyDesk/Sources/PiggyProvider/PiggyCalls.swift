import FoundationEssentials
import ProviderKit

/// Piggy's API: each way in which a call can end, in Paydesk's words.
struct PiggyCalls: Sendable {
    let http: any HTTPTransport
    let base: String
    let key: ProviderSecret<String>

    /// - Parameter key: the idempotency key of a call that changes something; nil for one that only asks.
    /// - Returns: nil where Piggy has no such thing.
    func send<Answer: Decodable>(
        _ method: String, _ path: String, _ body: [String: String]? = nil, key idempotencyKey: String? = nil
    ) async throws(ProviderError) -> Answer? {
        // After this the call may have had its effect, if it can have one.
        let lost: ProviderError = idempotencyKey == nil ? .unavailable : .outcomeUnknown
        var request = OutgoingRequest(
            method: method, url: "\(base)/v1/\(path)",
            headers: [(name: "Authorization", value: "Bearer \(key.value)")], maxReplyBytes: 64 << 10)
        if let body, let json = try? JSONEncoder().encode(body) { request.body = json }
        if let idempotencyKey { request.headers.append((name: "Idempotency-Key", value: idempotencyKey)) }
        let reply: IncomingReply
        do throws(HTTPTransportError) { reply = try await http.send(request) } catch {
            throw error == .notSent ? .unavailable : lost
        }
        switch reply.status {
        case 200...299:
            guard let answer = try? JSONDecoder().decode(Answer.self, from: reply.body) else { throw lost }
            return answer
        // Only Piggy's own documented words are an answer; a proxy has pages of its own.
        case 404 where word(reply) == "unknown": return nil
        case 409, 422: throw word(reply).map { .rejected(reason: $0) } ?? lost
        // A key, a right, a limit: nothing began.
        case 401, 403, 429: throw .unavailable
        default: throw lost
        }
    }

    private func word(_ reply: IncomingReply) -> String? {
        struct Refusal: Decodable { let error: String }
        let known = ["unknown", "closed", "amount_differs", "too_much", "not_paid"]
        return (try? JSONDecoder().decode(Refusal.self, from: reply.body)).map(\.error).flatMap {
            known.contains($0) ? $0 : nil
        }
    }
}
