import HTTPTypes
import Hummingbird

/// Tells browsers to take every answer for what it says that it is (WHATWG Fetch, `X-Content-Type-Options`), and, where
/// this server has the certificate itself, to come by HTTPS only (RFC 6797).
struct SafetyHeaders<Context: RequestContext>: RouterMiddleware {
    /// A year.
    private static var strictTransport: String { "max-age=31536000" }

    let servesTLS: Bool

    func handle(
        _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        var response = try await next(request, context)
        Self.add(to: &response.headers, servesTLS: servesTLS)
        return response
    }

    static func add(to headers: inout HTTPFields, servesTLS: Bool) {
        headers[.xContentTypeOptions] = "nosniff"
        if servesTLS { headers[.strictTransportSecurity] = strictTransport }
    }
}
