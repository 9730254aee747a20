import Domain
import Gateway

/// Limits how many wrong keys, tokens and secrets one address may send in a minute.
///
/// Only wrong ones are counted and refused: a right one is never turned away for those that others send from its address.
struct GuessLimiter: Sendable {
    private static let perMinute: Int64 = 100

    private let limiter: RateLimiter

    init(nodes: @escaping @Sendable () -> Int64, time: TimeSource) {
        limiter = RateLimiter(perMinute: Self.perMinute, nodes: nodes, time: time)
    }

    /// The refusal of a wrong key, token or secret: as it is, or `rateLimited` after too many of them.
    func refusal(_ error: GatewayError, from address: IPAddress?) -> GatewayError {
        guard error.isGuess, let wait = limiter.take(address?.source.description ?? "unknown") else { return error }
        return .rateLimited(retryAfter: max(1, wait))
    }
}

extension GatewayError {
    /// Whether somebody sent what nobody was ever given; a token that ran out, or that is for something else, was.
    fileprivate var isGuess: Bool {
        switch self {
        case .invalidCredential(.expired), .invalidCredential(.claim): false
        // Where a token stands in the path, or a secret in the body.
        case .invalidCredential, .notFound, .unauthenticated: true
        default: false
        }
    }
}
