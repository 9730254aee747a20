public import Foundation

/// The client of one Paydesk server for the user who is logged in to the app.
public struct Paydesk: Sendable {
    /// The longest time in seconds that a call is tried again after 429, 5xx or a lost answer.
    static let patience: Int64 = 30

    public let baseURL: URL
    public let language: ClientLanguage
    public let time: ClientTime
    let token: @Sendable () async throws -> String
    let userClaim: String
    let transport: any ClientTransport
    let folder: URL

    /// - Parameters:
    ///   - baseURL: the server's `public_url`.
    ///   - token: the JWT of the app's own login; throws where nobody is logged in. After a 401 it is asked once more.
    ///   - storage: the folder for purchases and entitlements.
    ///   - userClaim: the server's `auth.user_claim`.
    public init(
        baseURL: URL, token: @escaping @Sendable () async throws -> String, storage: ClientStorage,
        language: ClientLanguage = .preferred, userClaim: String = "sub",
        transport: any ClientTransport = URLSessionTransport(), time: ClientTime = .system
    ) {
        let address = baseURL.absoluteString
        self.baseURL = address.hasSuffix("/") ? URL(string: String(address.dropLast())) ?? baseURL : baseURL
        self.token = token
        self.language = language
        self.userClaim = userClaim
        self.transport = transport
        self.time = time
        folder = storage.folder(of: self.baseURL)
    }

    /// The user who is logged in now.
    ///
    /// - Throws: `loggedOut`.
    func login() async throws -> Login {
        guard let text = try? await token(), let login = Login(token: text, claim: userClaim) else {
            throw PaydeskError.loggedOut
        }
        return login
    }

    func request(
        _ method: String, _ path: String, token: String?, query: [String: String?] = [:], body: Data? = nil
    ) throws -> ClientRequest {
        var parts = URLComponents(url: baseURL, resolvingAgainstBaseURL: false)
        let base = parts?.percentEncodedPath ?? ""
        parts?.percentEncodedPath = base + path
        let items = query.compactMap { name, value in value.map { URLQueryItem(name: name, value: $0) } }
        if !items.isEmpty { parts?.queryItems = items.sorted { $0.name < $1.name } }
        guard let url = parts?.url else { throw PaydeskError.noAnswer("\(baseURL) is no address") }
        var headers = ["Accept": "application/json", "Accept-Language": language.rawValue]
        headers["Authorization"] = token.map { "Bearer \($0)" }
        if body != nil { headers["Content-Type"] = "application/json" }
        return ClientRequest(method: method, url: url, headers: headers, body: body)
    }

    /// Calls with the present token, asks for another one after a 401, and tries again what may succeed later.
    ///
    /// - Parameters:
    ///   - key: the idempotency key, the same for each try.
    ///   - patience: the seconds for which it is tried again.
    func call<Value: Decodable & Sendable>(
        _ method: String, _ path: String, query: [String: String?] = [:], body: [String: AttributeValue?]? = nil,
        key: String? = nil, patience: Int64 = Paydesk.patience
    ) async throws -> Value {
        let content = try body.map { try JSONEncoder().encode($0.compactMapValues { $0 }) }
        return try await trying(patience: patience) { token in
            var request = try request(method, path, token: token, query: query, body: content)
            request.headers["Idempotency-Key"] = key
            return try AnswerReader.data(Value.self, try await transport.send(request))
        }
    }

    func trying<Value: Sendable>(
        patience: Int64 = Paydesk.patience, _ body: (String) async throws -> Value
    ) async throws -> Value {
        let end = time.now() + patience
        var (isRenewed, pause) = (false, Int64(1))
        var bearer = try await presentToken()
        while true {
            do { return try await body(bearer) } catch let error as PaydeskError {
                if case .refused(let refusal) = error, refusal.status == 401, !isRenewed {
                    isRenewed = true
                    bearer = try await presentToken()
                    continue
                }
                let wait = error.retryAfter ?? pause
                guard error.isTemporary, time.now() + wait <= end else { throw error }
                try await time.sleep(wait)
                pause = min(pause * 2, 8)
            }
        }
    }

    private func presentToken() async throws -> String {
        do { return try await token() } catch { throw PaydeskError.loggedOut }
    }
}

extension String {
    /// This text as one segment of a path.
    var pathSegment: String {
        addingPercentEncoding(withAllowedCharacters: .alphanumerics.union(CharacterSet(charactersIn: "-_.~"))) ?? ""
    }
}
