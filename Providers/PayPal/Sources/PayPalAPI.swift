import Domain
import FoundationEssentials
import ProviderKit

/// Calls of PayPal's API, each with the account's token and, where it changes something, its idempotency key.
struct PayPalAPI: Sendable {
    private static let replyLimit = 1 << 20

    private let settings: PayPalSettings
    private let context: ProviderContext
    private let client: ServiceClient<PayPalRefusal>
    private let authorized: OAuthClient<PayPalRefusal>

    init(settings: PayPalSettings, context: ProviderContext) {
        self.settings = settings
        self.context = context
        client = ServiceClient("paypal", context: context)
        authorized = OAuthClient(
            client, tokenURL: "\(settings.base)/v1/oauth2/token", clientID: settings.clientID,
            secret: settings.clientSecret, context: context)
    }

    func get<Value: Decodable>(_ path: String) async throws(PayPalFailure) -> Value {
        try client.read(try await send("GET", path, Data(), key: nil))
    }

    /// - Parameter key: the `PayPal-Request-Id`; nil for a call that changes nothing.
    func post<Value: Decodable>(
        _ path: String, _ content: some Encodable, key: String?
    ) async throws(PayPalFailure) -> Value {
        try await post(path, body: client.body(content), key: key)
    }

    func post<Value: Decodable>(_ path: String, body: Data, key: String?) async throws(PayPalFailure) -> Value {
        try client.read(try await send("POST", path, body, key: key))
    }

    private func send(
        _ method: String, _ path: String, _ body: Data, key: String?
    ) async throws(PayPalFailure) -> IncomingReply {
        var headers = [(name: "Accept", value: "application/json"), (name: "User-Agent", value: "paydesk")]
        if method == "POST" { headers.append((name: "Content-Type", value: "application/json")) }
        if let key {
            headers += [
                (name: "PayPal-Request-Id", value: key), (name: "Prefer", value: "return=representation"),
            ]
        }
        let request = OutgoingRequest(
            method: method, url: "\(settings.base)/\(path)", headers: headers, body: body,
            maxReplyBytes: Self.replyLimit)
        let log = context.log
        let reply = try await authorized.send(request, call: "\(method) \(path)") { Self.log($0, $1, to: log) }
        if reply.isSuccess { return reply }
        throw reply.status < 400 ? .unanswered : .refused(PayPalRefusal(reply))
    }

    /// Logs PayPal's debug id, by which its support finds a call, and codes; never a message or a body.
    private static func log(_ reply: IncomingReply, _ call: String, to log: ProviderLog) {
        var metadata = ["call": call, "status": "\(reply.status)"]
        metadata["debug_id"] = PayPalText.word(reply.header("paypal-debug-id"))
        guard reply.status >= 300 else { return log.write(.debug, "paypal: answered", metadata) }
        let refusal = PayPalRefusal(reply)
        metadata["name"] = refusal.name
        metadata["issue"] = refusal.issue
        let isRight = [401, 403].contains(reply.status)
        log.write(
            isRight ? .error : .notice, isRight ? "paypal: a key or a right was refused" : "paypal: refused", metadata)
    }
}
