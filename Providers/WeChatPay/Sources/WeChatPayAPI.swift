import Domain
import FoundationEssentials
import ProviderKit
import _CryptoExtras

/// Calls of WeChat Pay's API, each with a signature, and each answer verified before it is read.
struct WeChatPayAPI: Sendable {
    private static let timeout: Int64 = 10_000
    private static let replyLimit = 256 << 10

    let settings: WeChatPaySettings
    let context: ProviderContext
    private let signer: WeChatPaySigner
    private let client: ServiceClient<WeChatPayRefusal>
    let platform: WeChatPayPlatform

    init(settings: WeChatPaySettings, context: ProviderContext) {
        self.settings = settings
        self.context = context
        client = ServiceClient("wechat pay", context: context)
        let signer = WeChatPaySigner(mchid: settings.mchid, identity: settings.identity)
        self.signer = signer
        platform = WeChatPayPlatform(
            publicKey: settings.publicKey, cache: context.cache, time: context.time,
            fetch: { timeout async throws(ProviderError) in
                try await WeChatPayCertificateFetch(settings: settings, context: context, signer: signer)
                    .certificates(timeout: timeout)
            })
    }

    func get<Value: Decodable>(_ target: String) async throws(WeChatPayFailure) -> Value {
        try client.read(try await call("GET", target, Data()))
    }

    func post<Value: Decodable>(_ target: String, _ content: some Encodable) async throws(WeChatPayFailure) -> Value {
        try client.read(try await call("POST", target, client.body(content)))
    }

    /// Makes a call whose successful answer has no body.
    ///
    /// - Returns: the answer's status.
    func status(_ target: String, _ content: some Encodable) async throws(WeChatPayFailure) -> Int {
        try await call("POST", target, client.body(content)).status
    }

    /// - Returns: a verified answer with a 2xx status.
    private func call(
        _ method: String, _ target: String, _ body: Data
    ) async throws(WeChatPayFailure) -> IncomingReply {
        do throws(ProviderError) { try await platform.prepare() } catch { throw .notSent }
        let exchange = WeChatPayExchange(settings: settings, context: context, signer: signer)
        let reply = try await exchange.send(method, target, body, timeout: Self.timeout, replyLimit: Self.replyLimit)
        let isGood = reply.isSuccess
        var isProven = false
        do throws(ProviderError) {
            isProven = try await proves(reply)
        } catch {
            // WeChat Pay's certificates are not available now.
            if isGood { throw .unanswered }
        }
        let code = isGood ? nil : WeChatPayRefusal.code(reply.body)
        exchange.log(reply, method, target, code: code, isProven: isProven)
        guard isGood else {
            throw reply.status < 400
                ? .unanswered : .refused(WeChatPayRefusal(status: reply.status, code: code, isProven: isProven))
        }
        guard isProven else { throw .unproven(.signature) }
        return reply
    }

    private func proves(_ reply: IncomingReply) async throws(ProviderError) -> Bool {
        do throws(ProviderError) {
            let signature = try WeChatPaySignature(reply.headers, now: context.time.now)
            return signature.isGood(reply.body, by: try await platform.key(signature.serial, timeout: Self.timeout))
        } catch {
            guard error.isUnproven else { throw error }
            return false
        }
    }
}

/// Signs a request and returns its answer, unread.
struct WeChatPayExchange: Sendable {
    let settings: WeChatPaySettings
    let context: ProviderContext
    let signer: WeChatPaySigner

    func send(
        _ method: String, _ target: String, _ body: Data, timeout: Int64, replyLimit: Int
    ) async throws(WeChatPayFailure) -> IncomingReply {
        let nonce = Hex.encoded(context.random.bytes(16), .upper)
        guard
            let authorization = signer.authorization(method, target, body, at: context.time.now, nonce: nonce)
        else { throw .notSent }
        var headers = [
            (name: "Authorization", value: authorization), (name: "Accept", value: "application/json"),
            (name: "User-Agent", value: "paydesk"),
        ]
        if !body.isEmpty { headers.append((name: "Content-Type", value: "application/json")) }
        if let key = settings.publicKey { headers.append((name: "Wechatpay-Serial", value: key.id)) }
        let request = OutgoingRequest(
            method: method, url: settings.base + target, headers: headers, body: body, timeoutMilliseconds: timeout,
            maxReplyBytes: replyLimit)
        return try await ServiceClient<WeChatPayRefusal>("wechat pay", context: context).send(
            request, call: "\(method) \(Self.path(target))")
    }

    /// Logs WeChat Pay's request id, by which its support finds a call, and codes; never a message or a body.
    func log(_ reply: IncomingReply, _ method: String, _ target: String, code: String?, isProven: Bool) {
        var metadata = ["call": "\(method) \(Self.path(target))", "status": "\(reply.status)"]
        metadata["request_id"] = WeChatPayText.word(
            reply.header("request-id"))
        metadata["code"] = code
        if reply.status == 401 || reply.status == 403 {
            context.log.write(.error, "wechat pay: the merchant's key or right was refused", metadata)
        } else if (200...299).contains(reply.status), !isProven {
            context.log.write(.error, "wechat pay: an answer whose signature is missing or wrong", metadata)
        } else {
            context.log.write(
                reply.status < 300 ? .debug : .notice,
                reply.status < 300 ? "wechat pay: answered" : "wechat pay: refused",
                metadata)
        }
    }

    private static func path(_ target: String) -> String { String(target.prefix { $0 != "?" }) }
}

/// Fetches the platform certificates, which prove themselves: only the holder of the APIv3 key could encrypt them.
struct WeChatPayCertificateFetch: Sendable {
    static let target = "/v3/certificates"

    let settings: WeChatPaySettings
    let context: ProviderContext
    let signer: WeChatPaySigner

    /// - Throws: `unavailable` where there is no answer, or none that proves itself.
    func certificates(timeout: Int64) async throws(ProviderError) -> WeChatPayCertificates {
        let exchange = WeChatPayExchange(settings: settings, context: context, signer: signer)
        let now = context.time.now
        let reply: IncomingReply
        do throws(WeChatPayFailure) {
            reply = try await exchange.send("GET", Self.target, Data(), timeout: timeout, replyLimit: 256 << 10)
        } catch { throw .unavailable }
        let isGood = reply.isSuccess
        let code = isGood ? nil : WeChatPayRefusal.code(reply.body)
        if reply.status == 404, code == "RESOURCE_NOT_EXISTS", settings.publicKey != nil {
            // A merchant with a public key may have no platform certificates.
            return WeChatPayCertificates(fetchedAt: now, items: [])
        }
        guard isGood, let list = try? JSONDecoder().decode(WeChatPayCertificateList.self, from: reply.body) else {
            exchange.log(reply, "GET", Self.target, code: code, isProven: true)
            throw .unavailable
        }
        let found = list.certificates(by: settings.apiKey.value, at: now)
        let isProven = proves(reply, found)
        exchange.log(reply, "GET", Self.target, code: nil, isProven: isProven)
        guard isProven else { throw .unavailable }
        return found
    }

    /// Returns whether a certificate of the set, or the public key, signs the answer.
    private func proves(_ reply: IncomingReply, _ found: WeChatPayCertificates) -> Bool {
        guard let signature = try? WeChatPaySignature(reply.headers, now: context.time.now) else { return false }
        let key =
            settings.publicKey?.id == signature.serial
            ? settings.publicKey?.key : found.key(signature.serial, at: context.time.now)
        return key.map { signature.isGood(reply.body, by: $0) } ?? false
    }
}
