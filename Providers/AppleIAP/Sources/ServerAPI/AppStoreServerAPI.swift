package import AppleTrust
package import Domain
import FoundationEssentials
package import ProviderKit

/// Apple's App Store Server API for one app, in the configured environments.
///
/// It is made once and shared, because it has the current token and the used part of Apple's rate limits. A retryable
/// answer is repeated inside the call, after 0.5, 1 and 2 seconds or at Apple's `Retry-After`, if that is within 30
/// seconds; after that it is thrown, so that a job repeats it later. Signed texts are returned as ``SignedText``.
/// Source: Apple, App Store Server API.
package struct AppStoreServerAPI: Sendable {
    /// The pauses before the second, third and fourth attempt, in milliseconds.
    static let pauses: [Int64] = [500, 1_000, 2_000]
    /// The longest wait inside a call, for Apple or for our own limit, in milliseconds.
    static let longestWait: Int64 = 30_000
    /// The longest wait for our own limit, and a call's time limit, while a client waits; in milliseconds.
    static let hurriedWait: Int64 = 1_000
    static let hurriedTimeout: Int64 = 4_000

    package let bundleID: String
    let addresses: [AppleEnvironment: String]
    /// True where the app has no release yet, so that Production answers 401 whatever the key; then Sandbox is queried.
    let isPreRelease: Bool
    /// True for the App Store in a box: business time is its time, and only it says when its calls are too many.
    let isBox: Bool
    let tokens: AppStoreTokens
    let limits: AppStoreLimits
    let http: any HTTPTransport
    let time: TimeSource
    let pause: @Sendable (Duration) async -> Void
    private var isHurried = false

    /// - Parameters:
    ///   - addresses: the base URL of each usable environment, without a slash at its end.
    ///   - isPreRelease: true where a 401 of Production only means that Sandbox must be queried.
    ///   - isBox: true for the App Store in a box.
    ///   - pause: sleeps; returns at once when its task is cancelled.
    package init(
        bundleID: String, key: AppStoreKey, addresses: [AppleEnvironment: String], isPreRelease: Bool = false,
        isBox: Bool = false, http: any HTTPTransport, time: TimeSource,
        pause: @escaping @Sendable (Duration) async -> Void
    ) {
        self.bundleID = bundleID
        self.addresses = addresses
        self.isPreRelease = isPreRelease
        self.isBox = isBox
        tokens = AppStoreTokens(key: key, bundleID: bundleID)
        limits = AppStoreLimits()
        self.http = http
        self.time = time
        self.pause = pause
    }

    /// The API for a client that waits: no call is repeated, and none waits long for the rate limit.
    var hurried: AppStoreServerAPI {
        var copy = self
        copy.isHurried = true
        return copy
    }

    /// The configured environments, Production first.
    package var environments: [AppleEnvironment] { AppleEnvironment.allCases.filter { addresses[$0] != nil } }
}

extension AppStoreServerAPI {
    /// Calls one environment, and repeats the call while the answer is retryable.
    ///
    /// - Parameter read: decodes the answer's body; an error counts as a damaged answer.
    func ask<Answer: Sendable>(
        _ request: AppStoreRequest, in environment: AppleEnvironment,
        _ read: (Data) throws(AppStoreAnswerDefect) -> Answer
    ) async throws(AppStoreServerError) -> Answer {
        var pauses = Self.pauses[...]
        while true {
            do throws(AppStoreServerError) {
                return try await askOnce(request, in: environment, read)
            } catch {
                guard case .retryable(_, let after) = error, !isHurried, !Task.isCancelled,
                    let usual = pauses.popFirst()
                else {
                    throw error
                }
                let wait = after.map { max(0, $0 - time.milliseconds()) } ?? usual
                guard wait <= Self.longestWait else { throw error }
                await pause(.milliseconds(wait))
                if Task.isCancelled { throw error }
            }
        }
    }

    private func askOnce<Answer: Sendable>(
        _ request: AppStoreRequest, in environment: AppleEnvironment,
        _ read: (Data) throws(AppStoreAnswerDefect) -> Answer
    ) async throws(AppStoreServerError) -> Answer {
        let reply = try await exchange(request, in: environment)
        if let error = reply.error(to: request, in: environment, now: time.milliseconds()) {
            if case .retryable(.rateLimited, let after?) = error {
                limits.hold(request.endpoint, environment, until: after, now: time.milliseconds())
            }
            throw error
        }
        do throws(AppStoreAnswerDefect) {
            guard reply.body.count <= request.endpoint.maxReplyBytes else {
                throw AppStoreAnswerDefect("it is too large")
            }
            return try read(reply.body)
        } catch {
            throw request.isRepeatable ? .retryable(.damaged(error.what), after: nil) : .outcomeUnknown
        }
    }

    /// Sends a request at its reserved time, and once more with a new token where a used one is refused.
    ///
    /// - Returns: the reply, whatever its status.
    func exchange(
        _ request: AppStoreRequest, in environment: AppleEnvironment
    ) async throws(AppStoreServerError) -> IncomingReply {
        while true {
            try await awaitTurn(request.endpoint, environment)
            let token = try tokens.token(now: time.now)
            let reply = try await send(request, token.text, to: environment)
            guard reply.status == 401 else { return reply }
            // A refused token is never used again, because a new one may be accepted.
            tokens.forget()
            if token.isNew { return reply }
        }
    }

    private func awaitTurn(
        _ endpoint: AppStoreEndpoint, _ environment: AppleEnvironment
    ) async throws(AppStoreServerError) {
        let now = time.milliseconds()
        guard !isBox else { return }
        let turn = limits.turn(
            endpoint, environment, now: now, longestWait: isHurried ? Self.hurriedWait : Self.longestWait)
        guard turn.isTaken else { throw .retryable(.ownLimit, after: turn.at) }
        guard turn.at > now else { return }
        await pause(.milliseconds(turn.at - now))
        if Task.isCancelled { throw .retryable(.cancelled, after: nil) }
    }

    private func send(
        _ request: AppStoreRequest, _ token: String, to environment: AppleEnvironment
    ) async throws(AppStoreServerError) -> IncomingReply {
        guard let address = addresses[environment] else { throw .environmentNotConfigured(environment) }
        do throws(HTTPTransportError) {
            var outgoing = request.outgoing(address: address, token: token)
            if isHurried { outgoing.timeoutMilliseconds = Self.hurriedTimeout }
            return try await http.send(outgoing)
        } catch .notSent {
            throw .retryable(.unreachable, after: nil)
        } catch {
            throw request.isRepeatable ? .retryable(.noAnswer, after: nil) : .outcomeUnknown
        }
    }
}
