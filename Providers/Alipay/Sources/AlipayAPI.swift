import Domain
import FoundationEssentials
import ProviderKit

/// Calls of Alipay's gateway, signed by the application; an answer is accepted only with Alipay's signature.
struct AlipayAPI: Sendable {
    private static let replyLimit = 256 << 10

    let settings: AlipaySettings
    let context: ProviderContext

    private struct Head: Decodable {
        let code: String
        let sub_code: String?
    }

    /// Sends a call; it is never repeated here.
    ///
    /// - Throws: `refused` for every code except 10000.
    func call<Value: Decodable>(
        _ method: String, _ content: [String: String], more: [String: String] = [:]
    ) async throws(AlipayFailure) -> Value {
        guard let request = AlipayRequest(method, content, at: context.time.now, settings, more: more) else {
            throw .notSent
        }
        let reply = try await ServiceClient<AlipayRefusal>("alipay", context: context).send(
            request.call(settings.gateway, maxReplyBytes: Self.replyLimit), call: method)
        guard reply.status == 200, let envelope = AlipayEnvelope(reply.body, method: method) else {
            context.log.write(.warning, "alipay: no answer of Alipay's", ["call": method, "status": "\(reply.status)"])
            throw .unanswered
        }
        let head = try? UnambiguousJSON.decode(Head.self, from: envelope.node)
        try prove(envelope, head, method)
        guard let head else { throw .unanswered }
        guard head.code == "10000" else { throw refusal(head, method) }
        guard let value = try? UnambiguousJSON.decode(Value.self, from: envelope.node) else {
            throw .unsayable("unreadable")
        }
        return value
    }

    private func prove(_ envelope: AlipayEnvelope, _ head: Head?, _ method: String) throws(AlipayFailure) {
        if let signature = envelope.signature,
            settings.proof.isProven(envelope.node, signature, by: envelope.certificateNumber)
        {
            return
        }
        // Alipay does not sign some refusals of a key: they are logged for an operator, and otherwise ignored.
        let word = AlipayText.word(head?.sub_code)
        var metadata = ["call": method, "code": AlipayText.word(head?.code) ?? "", "sub_code": word ?? ""]
        metadata["certificate"] = AlipayText.word(envelope.certificateNumber)
        let isSigned = envelope.signature != nil
        context.log.write(
            .error, isSigned ? "alipay: the answer's signature is wrong" : "alipay: the answer is not signed", metadata)
        guard !isSigned else { throw .unproven(.signature) }
        throw .refused(AlipayRefusal(code: AlipayText.word(head?.code) ?? "", word: word, isProven: false))
    }

    /// Makes the refusal of a code and logs it without the message, which can repeat the request's content.
    private func refusal(_ head: Head, _ method: String) -> AlipayFailure {
        guard let code = AlipayText.word(head.code) else {
            context.log.write(.warning, "alipay: an answer without a code", ["call": method])
            return .unanswered
        }
        let refusal = AlipayRefusal(code: code, word: AlipayText.word(head.sub_code), isProven: true)
        let level: ProviderLog.Level = refusal.isMissing ? .debug : code == "40004" ? .notice : .error
        context.log.write(
            level, "alipay: refused", ["call": method, "code": code, "sub_code": refusal.word ?? ""])
        return .refused(refusal)
    }
}
