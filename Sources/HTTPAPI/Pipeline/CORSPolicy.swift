import HTTPTypes
import Hummingbird

/// Cross-origin rules for browsers (WHATWG Fetch, CORS protocol): only the configured origins, never `*`.
struct CORSPolicy<Context: RequestContext>: RouterMiddleware {
    let origins: Set<String>

    func handle(
        _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard let origin = request.headers[.origin], origins.contains(origin) else {
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
                    .accessControlAllowHeaders:
                        "authorization, content-type, idempotency-key, if-none-match, accept-language, x-request-id",
                    .accessControlMaxAge: "600",
                ])
        }
        var response = try await next(request, context)
        response.headers[.accessControlAllowOrigin] = origin
        response.headers[.vary] = "Origin"
        response.headers[.accessControlExposeHeaders] =
            "ETag, X-Request-Id, Idempotency-Replayed, Retry-After, WWW-Authenticate"
        return response
    }
}
