import Domain
import FoundationEssentials
import ProviderKit

/// Calls of Stripe's API, each with the pinned version and, where it makes something, its idempotency key.
///
/// A call is repeated here at most twice, with the same key, and only after an answer: after a lost one Paydesk queries
/// the state first.
struct StripeAPI: Sendable {
    /// Stripe's API version of requests and answers.
    static let version = "2026-10-28.endive"
    private static let repetitions = 2
    /// The milliseconds after the first call within which a repetition may begin.
    private static let patienceMilliseconds: Int64 = 20_000
    private static let objectLimit = 1 << 20
    private static let listLimit = 8 << 20
    /// The seconds for which a call's key is relied on.
    ///
    /// Stripe stores keys for at least 24 hours; an hour is subtracted for the call's own time and for clocks that
    /// differ.
    static let keyLife: Int64 = 23 * 3_600

    private let settings: StripeSettings
    private let context: ProviderContext
    private let client: ServiceClient<StripeRefusal>
    private let pause: @Sendable (Duration) async -> Void

    init(settings: StripeSettings, context: ProviderContext, pause: @escaping @Sendable (Duration) async -> Void) {
        self.settings = settings
        self.context = context
        client = ServiceClient("stripe", context: context)
        self.pause = pause
    }

    func get<Value: Decodable>(
        _ path: String, _ query: StripeForm = StripeForm(), isList: Bool = false
    ) async throws(StripeFailure) -> Value {
        let text = query.encoded
        let request = OutgoingRequest(
            method: "GET", url: "\(settings.base)/v1/\(path)" + (text.isEmpty ? "" : "?\(text)"), headers: headers,
            maxReplyBytes: isList ? Self.listLimit : Self.objectLimit)
        return try client.read(try await send(request, path))
    }

    /// Makes something once for a key.
    ///
    /// - Parameter key: nil for what has the same effect however often it is sent, such as a cancellation. Stripe keeps
    ///   the first answer to a key for a day, its own error 500 too, and repeats it without doing anything.
    /// - Returns: the answer, and whether Stripe had given it to this key before.
    func post<Value: Decodable>(
        _ path: String, _ form: StripeForm, key: String?
    ) async throws(StripeFailure) -> (value: Value, isReplayed: Bool) {
        var more = [(name: "Content-Type", value: "application/x-www-form-urlencoded")]
        if let key { more.append((name: "Idempotency-Key", value: key)) }
        let request = OutgoingRequest(
            method: "POST", url: "\(settings.base)/v1/\(path)", headers: headers + more,
            body: Data(form.encoded.utf8), maxReplyBytes: Self.objectLimit)
        let reply = try await send(request, path)
        return (try client.read(reply), reply.header("idempotent-replayed") == "true")
    }

    func delete<Value: Decodable>(_ path: String) async throws(StripeFailure) -> Value {
        let request = OutgoingRequest(
            method: "DELETE", url: "\(settings.base)/v1/\(path)", headers: headers, maxReplyBytes: Self.objectLimit)
        return try client.read(try await send(request, path))
    }

    private var headers: [(name: String, value: String)] {
        [
            (name: "Authorization", value: "Bearer \(settings.secretKey.value)"),
            (name: "Stripe-Version", value: Self.version), (name: "Accept", value: "application/json"),
            (name: "User-Agent", value: "paydesk"),
        ]
    }

    private func send(_ request: OutgoingRequest, _ path: String) async throws(StripeFailure) -> IncomingReply {
        let begin = context.time.milliseconds()
        let shown = Self.shown(path)
        // True where an earlier attempt may have taken effect, even if a later one did not.
        var mayHaveWorked = false
        for turn in 0... {
            let reply: IncomingReply
            do throws(StripeFailure) {
                reply = try await client.send(request, call: "\(request.method) \(shown)")
            } catch {
                throw mayHaveWorked ? .unanswered : error
            }
            log(reply, request.method, shown)
            if (200...299).contains(reply.status) { return reply }
            guard turn < Self.repetitions, let delay = reply.delay(beforeRepetition: turn, random: context.random),
                context.time.milliseconds() - begin < Self.patienceMilliseconds
            else {
                let refusal = StripeRefusal(reply)
                throw reply.status < 400 || (mayHaveWorked && refusal.isBeforeWork) ? .unanswered : .refused(refusal)
            }
            mayHaveWorked = mayHaveWorked || !StripeRefusal(reply).isBeforeWork
            await pause(delay)
        }
        throw .unanswered
    }

    /// Returns a path for the log, without the ids of mandates, which are stored sealed.
    private static func shown(_ path: String) -> String {
        path.split(separator: "/").map { $0.hasPrefix("pm_") || $0.hasPrefix("cus_") ? "…" : $0 }.joined(
            separator: "/")
    }

    /// Logs Stripe's request id, by which its support finds a call, and codes; never a message or a body.
    private func log(_ reply: IncomingReply, _ method: String, _ path: String) {
        var metadata = ["call": "\(method) \(path)", "status": "\(reply.status)"]
        metadata["request_id"] = StripeText.word(reply.header("request-id"))
        guard reply.status >= 300 else {
            return context.log.write(.debug, "stripe: answered", metadata)
        }
        let refusal = StripeRefusal(reply)
        metadata["type"] = refusal.type
        metadata["code"] = refusal.code
        let isKey = [401, 403].contains(reply.status)
        context.log.write(
            isKey ? .error : .notice, isKey ? "stripe: the secret key was refused" : "stripe: refused", metadata)
    }
}

extension IncomingReply {
    /// Returns the time to wait before the call is repeated; nil where it is not to be.
    ///
    /// `Stripe-Should-Retry` decides; without it conflicts and Stripe's own errors are repeated, like in its libraries:
    /// after half a second, doubled each time up to 5 s, less a random part of up to a half.
    fileprivate func delay(beforeRepetition turn: Int, random: RandomSource) -> Duration? {
        switch header("stripe-should-retry") {
        case "true": break
        case "false": return nil
        default: guard status == 409 || status >= 500 else { return nil }
        }
        let longest: Int64 = 5_000
        let full = min(longest, 500 << Int64(min(turn, 8)))
        let chance = Int64(random.bytes(1).first ?? 0)
        var delay = max(500, full - full / 2 * chance / 255)
        if let after = header("retry-after").flatMap({ Int64($0) }) {
            guard (0...longest / 1_000).contains(after) else { return nil }
            delay = max(delay, after * 1_000)
        }
        return .milliseconds(delay)
    }
}
