import Domain
import FoundationEssentials

/// Calls of a service that takes OAuth 2.0 access tokens by the client credentials grant (RFC 6749 section 4.4).
///
/// A token is kept in the account's cache until shortly before it ends; those who need one at the same time wait for one
/// call. A token that the service does not take (401) is renewed once; a second 401 is the service's answer.
public struct OAuthClient<Refusal: ServiceRefusal>: Sendable {
    private let client: ServiceClient<Refusal>
    private let tokenURL: String
    private let clientID: String
    private let secret: ProviderSecret<String>
    private let context: ProviderContext

    /// - Parameters:
    ///   - client: sends the calls.
    ///   - tokenURL: the token endpoint.
    public init(
        _ client: ServiceClient<Refusal>, tokenURL: String, clientID: String, secret: ProviderSecret<String>,
        context: ProviderContext
    ) {
        self.client = client
        self.tokenURL = tokenURL
        self.clientID = clientID
        self.secret = secret
        self.context = context
    }

    /// Sends a request with a token.
    ///
    /// - Parameters:
    ///   - call: what is called, for the log.
    ///   - log: is shown every answer and the call that it is to, the token's too.
    /// - Returns: the service's answer of whatever status.
    /// - Throws: `notSent` where there is no token to be had, and those of ``ServiceClient/send(_:call:)``.
    public func send(
        _ request: OutgoingRequest, call: String, log: @escaping @Sendable (IncomingReply, _ call: String) -> Void
    ) async throws(ServiceFailure<Refusal>) -> IncomingReply {
        var isRenewed = false
        while true {
            let token = try await token(log: log)
            var request = request
            request.headers.append((name: "Authorization", value: "Bearer \(String(decoding: token, as: UTF8.self))"))
            let reply = try await client.send(request, call: call)
            log(reply, call)
            guard reply.status == 401 else { return reply }
            context.cache.forget(OAuthToken.cacheName, where: token)
            if isRenewed { return reply }
            isRenewed = true
        }
    }

    private func token(
        log: @escaping @Sendable (IncomingReply, String) -> Void
    ) async throws(ServiceFailure<Refusal>) -> Data {
        let (fetching, time) = (self, context.time)
        do throws(ProviderError) {
            return try await context.cache.value(OAuthToken.cacheName) { () async throws(ProviderError) in
                let token: OAuthToken
                do throws(ServiceFailure<Refusal>) { token = try await fetching.fetch(log: log) } catch {
                    throw .unavailable
                }
                return ProviderCache.Entry(
                    Data(token.access_token.utf8), until: time.now.adding(seconds: token.secondsToKeep))
            }
        } catch {
            // Nothing was asked of the service but the token.
            throw .notSent
        }
    }

    private func fetch(
        log: @Sendable (IncomingReply, String) -> Void
    ) async throws(ServiceFailure<Refusal>) -> OAuthToken {
        let pair = Data("\(clientID):\(secret.value)".utf8).base64EncodedString()
        let request = OutgoingRequest(
            method: "POST", url: tokenURL,
            headers: [
                (name: "Authorization", value: "Basic \(pair)"), (name: "Accept", value: "application/json"),
                (name: "User-Agent", value: "paydesk"),
                (name: "Content-Type", value: "application/x-www-form-urlencoded"),
            ],
            body: Data("grant_type=client_credentials".utf8), maxReplyBytes: OAuthToken.replyLimit)
        let reply = try await client.send(request, call: "POST token")
        log(reply, "POST token")
        guard reply.status == 200, let token = try? JSONDecoder().decode(OAuthToken.self, from: reply.body),
            token.isUsable
        else { throw .unanswered }
        return token
    }
}

/// The answer of a token endpoint (RFC 6749 section 5.1).
private struct OAuthToken: Decodable {
    static let cacheName = "oauth_token"
    static let replyLimit = 1 << 20

    let access_token: String
    /// Seconds.
    let expires_in: Int64

    /// At most 4,096 visible characters of ASCII, so that it can stand in a header.
    var isUsable: Bool { access_token.hasBytes(1...4_096, where: \.isVisible) }

    /// A token is renewed two minutes before it ends, and kept for half a minute at least and a day at most.
    var secondsToKeep: Int64 { min(max(expires_in, 150) - 120, 86_400) }
}
