import FoundationEssentials
import ProviderKit

/// The failures of a call to Piggy.
typealias PiggyFailure = ServiceFailure<PiggyRefusal>

/// Piggy's "no", as its answer says it.
struct PiggyRefusal: ServiceRefusal {
    let status: Int
    /// Nil for anything but Piggy's own documented words: a proxy has pages of its own.
    let word: String?

    init(_ reply: IncomingReply) {
        struct Body: Decodable { let error: String }
        let known = ["unknown", "closed", "amount_differs", "too_much", "not_paid"]
        let error = (try? JSONDecoder().decode(Body.self, from: reply.body))?.error ?? ""
        status = reply.status
        word = known.contains(error) ? error : nil
    }

    /// Piggy has no such thing.
    var isMissing: Bool { status == 404 && word == "unknown" }

    func providerError(_ unknown: ProviderError) -> ProviderError {
        switch status {
        case 409, 422: word.map { .rejected(reason: $0) } ?? unknown
        // A key, a right, a limit: nothing began.
        case 401, 403, 429: .unavailable
        default: unknown
        }
    }
}

/// Piggy's API: each way in which a call can end, in Paydesk's words.
struct PiggyCalls: Sendable {
    let client: ServiceClient<PiggyRefusal>
    let base: String
    let key: ProviderSecret<String>

    /// - Parameter key: the idempotency key of a call that changes something; nil for one that only asks.
    /// - Returns: nil where Piggy has no such thing.
    func send<Answer: Decodable>(
        _ method: String, _ path: String, _ body: [String: String]? = nil, key idempotencyKey: String? = nil
    ) async throws(ProviderError) -> Answer? {
        var request = OutgoingRequest(
            method: method, url: "\(base)/v1/\(path)",
            headers: [(name: "Authorization", value: "Bearer \(key.value)")], maxReplyBytes: 64 << 10)
        if let idempotencyKey { request.headers.append((name: "Idempotency-Key", value: idempotencyKey)) }
        do throws(PiggyFailure) {
            if let body { request.body = try client.body(body) }
            let reply = try await client.send(request, call: "\(method) \(path)")
            if reply.isSuccess { return try client.read(reply, as: Answer.self) }
            let refusal = PiggyRefusal(reply)
            if refusal.isMissing { return nil }
            throw .refused(refusal)
        } catch {
            // A call that changes something may have had its effect.
            throw error.providerError(afterChange: idempotencyKey != nil)
        }
    }
}
