import Domain
import FoundationEssentials
import ProviderKit

/// Calls of PayPal's API, each with the account's token and, where it changes something, its idempotency key.
struct PayPalAPI: Sendable {
    private static let tokenName = "oauth_token"
    private static let replyLimit = 1 << 20

    let settings: PayPalSettings
    let context: ProviderContext

    func get<Value: Decodable>(_ path: String) async throws(PayPalFailure) -> Value {
        try Self.read(try await send("GET", path, Data(), key: nil))
    }

    /// - Parameter key: the `PayPal-Request-Id`; nil for a call that changes nothing.
    func post<Value: Decodable>(
        _ path: String, _ content: some Encodable, key: String?
    ) async throws(PayPalFailure) -> Value {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let body = try? encoder.encode(content) else { throw .notSent }
        return try await post(path, body: body, key: key)
    }

    func post<Value: Decodable>(_ path: String, body: Data, key: String?) async throws(PayPalFailure) -> Value {
        try Self.read(try await send("POST", path, body, key: key))
    }

    private static func read<Value: Decodable>(_ reply: IncomingReply) throws(PayPalFailure) -> Value {
        guard let value = try? UnambiguousJSON.decode(Value.self, from: reply.body) else { throw .unanswered }
        return value
    }

    /// Sends a request; a refused token is renewed once, and a second refusal is the answer.
    private func send(
        _ method: String, _ path: String, _ body: Data, key: String?
    ) async throws(PayPalFailure) -> IncomingReply {
        for turn in 0... {
            let token = try await token()
            var headers = [
                (name: "Authorization", value: "Bearer \(String(decoding: token, as: UTF8.self))"),
                (name: "Accept", value: "application/json"), (name: "User-Agent", value: "paydesk"),
            ]
            if method == "POST" { headers.append((name: "Content-Type", value: "application/json")) }
            if let key {
                headers += [
                    (name: "PayPal-Request-Id", value: key), (name: "Prefer", value: "return=representation"),
                ]
            }
            let reply = try await exchange(method, path, headers, body)
            if (200...299).contains(reply.status) { return reply }
            if reply.status == 401 {
                context.cache.forget(Self.tokenName, where: token)
                if turn == 0 { continue }
            }
            throw reply.status < 400 ? .unanswered : .refused(PayPalRefusal(reply))
        }
        throw .unanswered
    }

    private func exchange(
        _ method: String, _ path: String, _ headers: [(name: String, value: String)], _ body: Data
    ) async throws(PayPalFailure) -> IncomingReply {
        let request = OutgoingRequest(
            method: method, url: "\(settings.base)/\(path)", headers: headers, body: body,
            maxReplyBytes: Self.replyLimit)
        let reply: IncomingReply
        do throws(HTTPTransportError) { reply = try await context.http.send(request) } catch {
            context.log.write(.warning, "paypal: no answer", ["call": "\(method) \(path)", "error": "\(error)"])
            throw error == .notSent ? .notSent : .unanswered
        }
        log(reply, method, path)
        return reply
    }

    /// Logs PayPal's debug id, by which its support finds a call, and codes; never a message or a body.
    private func log(_ reply: IncomingReply, _ method: String, _ path: String) {
        var metadata = ["call": "\(method) \(path)", "status": "\(reply.status)"]
        metadata["debug_id"] = PayPalText.word(
            reply.headers.first { $0.name.lowercased() == "paypal-debug-id" }?.value)
        guard reply.status >= 300 else { return context.log.write(.debug, "paypal: answered", metadata) }
        let refusal = PayPalRefusal(reply)
        metadata["name"] = refusal.name
        metadata["issue"] = refusal.issue
        let isRight = [401, 403].contains(reply.status)
        context.log.write(
            isRight ? .error : .notice, isRight ? "paypal: a key or a right was refused" : "paypal: refused", metadata)
    }
}

// The OAuth token.
extension PayPalAPI {
    private struct Token: Decodable {
        let access_token: String
        let expires_in: Int64
    }

    /// Returns this process's token or fetches a new one; concurrent callers wait for one call.
    private func token() async throws(PayPalFailure) -> Data {
        let (api, time) = (self, context.time)
        do throws(ProviderError) {
            return try await context.cache.value(Self.tokenName) { () async throws(ProviderError) in
                let token: Token
                do throws(PayPalFailure) { token = try await api.fetchToken() } catch { throw .unavailable }
                // It is renewed before its end, and cached for a day at most.
                let seconds = min(max(token.expires_in - 120, 30), 86_400)
                return ProviderCache.Entry(
                    Data(token.access_token.utf8), until: time.now.adding(seconds: seconds))
            }
        } catch {
            // Only the token was requested.
            throw .notSent
        }
    }

    private func fetchToken() async throws(PayPalFailure) -> Token {
        let pair = Data("\(settings.clientID):\(settings.clientSecret.value)".utf8).base64EncodedString()
        let headers = [
            (name: "Authorization", value: "Basic \(pair)"), (name: "Accept", value: "application/json"),
            (name: "User-Agent", value: "paydesk"),
            (name: "Content-Type", value: "application/x-www-form-urlencoded"),
        ]
        let reply = try await exchange(
            "POST", "v1/oauth2/token", headers, Data("grant_type=client_credentials".utf8))
        guard reply.status == 200, let token = try? JSONDecoder().decode(Token.self, from: reply.body),
            (1...4_096).contains(token.access_token.utf8.count),
            token.access_token.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { throw .unanswered }
        return token
    }
}
