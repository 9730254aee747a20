import Domain
import Foundation
import ProviderKit

/// The answer of the fake's service.
struct FakeAnswer: Codable, Sendable {
    var state: String
    var value: Int64
    var currency: String
    var refunds: [String]
    /// The notes that a careless adapter stores at the service.
    var notes: [String]
}

/// The fake's calls to its service: `POST /payments/{id}/{verb}`.
extension FakeProvider {
    /// - Parameter key: the key under which the service acts once; empty for a query.
    func call(
        _ id: ID<Payment>, _ verb: String, _ amount: Money, _ key: String = ""
    ) async throws(ProviderError) -> FakeAnswer {
        let request = OutgoingRequest(
            method: "POST", url: "https://fake.example/payments/\(id)/\(verb)",
            body: Data("\(amount.value) \(amount.currency) \(key)".utf8),
            timeoutMilliseconds: flaw == .waitsForEver ? .max : 15_000,
            maxReplyBytes: flaw == .readsForEver ? .max : 1 << 20)
        let isQuestion = verb == "query"
        let reply = try await send(request)
        guard reply.status < 500 else {
            if flaw == .serverErrorIsRefusal { throw .rejected(reason: "server_error") }
            throw isQuestion || flaw == .serverErrorIsUnavailable ? .unavailable : .outcomeUnknown
        }
        guard reply.status == 200 else { throw .rejected(reason: "refused") }
        guard let answer = try? JSONDecoder().decode(FakeAnswer.self, from: reply.body) else {
            if flaw == .garbageIsWaiting {
                return FakeAnswer(state: "open", value: amount.value, currency: "CNY", refunds: [], notes: [])
            }
            if flaw == .garbageIsRefusal { throw .rejected(reason: "garbage") }
            throw isQuestion || flaw == .garbageIsUnavailable ? .unavailable : .outcomeUnknown
        }
        if flaw == .refusesUnknownFields, String(decoding: reply.body, as: UTF8.self).contains("kit_unknown") {
            throw .rejected(reason: "unknown_field")
        }
        guard answer.value >= 0 else {
            if flaw == .impossibleNumberIsRefusal { throw .rejected(reason: "impossible_number") }
            throw isQuestion ? .unavailable : .outcomeUnknown
        }
        return answer
    }

    private func send(_ request: OutgoingRequest) async throws(ProviderError) -> IncomingReply {
        let begin = context.time.now
        while true {
            do {
                return try await context.http.send(request)
            } catch {
                switch error {
                case .outcomeUnknown where flaw == .asksForEver: continue
                case .outcomeUnknown: throw unanswered(request, after: context.time.now.rawValue - begin.rawValue)
                case .notSent:
                    if flaw == .leaksSecretInError { throw .rejected(reason: "no answer with \(Self.secret)") }
                    if flaw == .unavailableIsSuccess {
                        return IncomingReply(
                            status: 200,
                            body: Data(#"{"state":"open","value":1,"currency":"CNY","refunds":[],"notes":[]}"#.utf8))
                    }
                    throw .unavailable
                }
            }
        }
    }

    private func unanswered(_ request: OutgoingRequest, after seconds: Int64) -> ProviderError {
        switch flaw {
        case .lostReplyIsUnavailable: .unavailable
        case .lostReplyIsRejected: .rejected(reason: "lost")
        case .tooLargeIsRefusal where seconds == 0: .rejected(reason: "too_large")
        case .timeoutIsRefusal where seconds > 0: .rejected(reason: "timeout")
        default: .outcomeUnknown
        }
    }
}
