import Domain
import FoundationEssentials
import ProviderKit

/// Calls of a plugin: signed POSTs with signed answers, whose results are mapped to Paydesk's errors.
///
/// The id of an answer is `re_` and the request's, so it only answers this call, and no request can be returned as one.
/// A status only counts where the signed body states the same.
struct RemoteAPI: Sendable {
    /// The statuses of the protocol, with the words in their bodies.
    private static let words = [409: "rejected", 501: "unsupported", 503: "unavailable", 504: "outcome_unknown"]

    let settings: RemoteSettings
    let context: ProviderContext

    static func answerID(_ id: String) -> String { "re_\(id)" }

    func send<Answer: Decodable>(_ request: RemoteRequest) async throws(ProviderError) -> Answer {
        let name = request.call.rawValue
        let lost: ProviderError = request.call.changesSomething ? .outcomeUnknown : .unavailable
        let (outgoing, id) = try signed(request)
        let reply: IncomingReply
        do throws(ServiceFailure<RemoteRefusal>) {
            reply = try await ServiceClient<RemoteRefusal>("remote", context: context).send(outgoing, call: name)
        } catch {
            throw error.providerError(afterChange: request.call.changesSomething)
        }
        func no(_ why: String, _ error: ProviderError) -> ProviderError {
            context.log.write(.warning, "remote: \(why)", ["call": name, "status": "\(reply.status)"])
            return error
        }
        guard reply.status == 200 || Self.words[reply.status] != nil, reply.body.count <= RemoteLimits.body,
            let seal = RemoteSeal({ header in reply.headers.first { $0.name == header }?.value })
        else { throw no("no answer of the protocol's", lost) }
        guard seal.isTimely(at: context.time.now.rawValue) else {
            throw no("an answer that was not signed now", .unproven(.time))
        }
        guard seal.id == Self.answerID(id), seal.isGenuine(reply.body, settings.secrets) else {
            throw no("an answer that is not signed for this call", .unproven(.signature))
        }
        guard let word = Self.words[reply.status] else {
            guard let answer = try? UnambiguousJSON.decode(Answer.self, from: reply.body) else {
                throw no("an answer that cannot be read", lost)
            }
            return answer
        }
        guard let refusal = try? JSONDecoder().decode(RemoteRefusal.self, from: reply.body), refusal.error.type == word
        else { throw no("a refusal that cannot be read", lost) }
        throw refusal.providerError(lost, isFinal: request.call.canBeRejected)
    }

    private func signed(_ request: RemoteRequest) throws(ProviderError) -> (OutgoingRequest, id: String) {
        guard let secret = settings.secrets.first, let body = try? JSONText.encoded(request),
            body.count <= RemoteLimits.body
        else { throw .rejected(reason: "too_large") }
        let id = "msg_" + Hex.encoded(context.random.bytes(16))
        let seal = RemoteSeal(id: id, timestamp: context.time.now.rawValue, body: body, secret: secret)
        let headers: [(name: String, value: String)] =
            [
                (name: "content-type", value: "application/json"), (name: "accept", value: "application/json"),
                (name: "user-agent", value: "paydesk"),
            ] + seal.headers
        let outgoing = OutgoingRequest(
            method: "POST", url: "\(settings.url)/\(request.call.rawValue)", headers: headers, body: body,
            timeoutMilliseconds: RemoteLimits.callMilliseconds, maxReplyBytes: RemoteLimits.body)
        return (outgoing, id)
    }
}
