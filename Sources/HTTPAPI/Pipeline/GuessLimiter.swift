import Domain
import Gateway

/// Limits the number of wrong keys, tokens and secrets that an address may send in a minute.
///
/// Only wrong ones are counted and refused: a valid one is accepted, whatever others send from the same address.
struct GuessLimiter: Sendable {
    private static let perMinute: Int64 = 100

    private let limiter: RateLimiter

    init(nodes: @escaping @Sendable () -> Int64, time: TimeSource) {
        limiter = RateLimiter(perMinute: Self.perMinute, nodes: nodes, time: time)
    }

    /// Counts a wrong key, token or secret and returns its refusal, which is `rateLimited` after too many.
    func refusal(_ error: GatewayError, from address: IPAddress?) -> GatewayError {
        guard error.isGuess, let wait = limiter.take(address?.source.description ?? "unknown") else { return error }
        return .rateLimited(retryAfter: max(1, wait))
    }
}

extension GatewayError {
    /// True for a credential that was never issued; an expired token, or one for another purpose, was.
    fileprivate var isGuess: Bool {
        switch self {
        case .invalidCredential(.expired), .invalidCredential(.claim): false
        // Not found and unauthenticated count where the path has a token or the body a secret.
        case .invalidCredential, .notFound, .unauthenticated: true
        default: false
        }
    }
}
