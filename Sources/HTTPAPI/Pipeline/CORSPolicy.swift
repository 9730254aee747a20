import Domain
import HTTPTypes
import Hummingbird
import Logging
import Synchronization

/// Cross-origin rules for browsers (WHATWG Fetch, CORS protocol): only the configured origins, never `*`; in
/// development mode also pages from loopback addresses.
struct CORSPolicy<Context: RequestContext>: RouterMiddleware {
    private static var headers: String {
        "authorization, content-type, idempotency-key, if-none-match, last-event-id, accept-language, x-request-id"
    }

    private let origins: Set<String>
    private let isDevelopment: Bool
    private let refused: RefusedOrigins

    init(origins: Set<String>, isDevelopment: Bool = false, logger: Logger) {
        self.origins = origins
        self.isDevelopment = isDevelopment
        refused = RefusedOrigins(logger)
    }

    func handle(
        _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard let origin = request.headers[.origin] else { return try await next(request, context) }
        guard origins.contains(origin) || (isDevelopment && Loopback.isOrigin(origin)) else {
            refused.note(origin)
            if request.method == .options, request.headers[.accessControlRequestMethod] != nil {
                return Response(status: .noContent, headers: [.vary: "Origin"])
            }
            return try await next(request, context)
        }
        if request.method == .options, request.headers[.accessControlRequestMethod] != nil {
            return Response(
                status: .noContent,
                headers: [
                    .accessControlAllowOrigin: origin, .vary: "Origin",
                    .accessControlAllowMethods: "GET, POST, PATCH, DELETE",
                    .accessControlAllowHeaders: Self.headers,
                    .accessControlMaxAge: "600",
                ])
        }
        var response = try await next(request, context)
        // Published keys are for pages of every origin.
        guard response.headers[.accessControlAllowOrigin] == nil else { return response }
        response.headers[.accessControlAllowOrigin] = origin
        response.headers[.vary] = [response.headers[.vary], "Origin"].compactMap(\.self).joined(separator: ", ")
        response.headers[.accessControlExposeHeaders] =
            "ETag, X-Request-Id, Idempotency-Replayed, Retry-After, WWW-Authenticate, Allow"
        return response
    }
}

/// The refused origins, each logged once; only the first hundred, because a client can send any number.
private final class RefusedOrigins: Sendable {
    private static let limit = 100

    private let logger: Logger
    private let known = Mutex<Set<String>>([])

    init(_ logger: Logger) { self.logger = logger }

    func note(_ origin: String) {
        let shown = origin.shown
        let isNew = known.withLock { $0.count < Self.limit && $0.insert(shown).inserted }
        guard isNew else { return }
        logger.warning(
            "a page of an origin that http.cors_origins does not list is not let in", metadata: ["origin": "\(shown)"])
    }
}

/// The loopback addresses of this machine.
enum Loopback {
    /// Returns whether a browser's `Origin` is a page from this machine: `http://localhost:5173`, `http://[::1]:8081`.
    static func isOrigin(_ origin: String) -> Bool {
        guard let scheme = ["http://", "https://"].first(where: origin.hasPrefix) else { return false }
        let place = origin.dropFirst(scheme.count)
        for host in ["localhost", "127.0.0.1", "[::1]"] where place.hasPrefix(host) {
            let port = place.dropFirst(host.count)
            if port.isEmpty { return true }
            return port.first == ":" && (2...6).contains(port.utf8.count)
                && port.utf8.dropFirst().allSatisfy(\.isDigit)
        }
        return false
    }
}
