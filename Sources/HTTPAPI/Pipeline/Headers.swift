import Crypto
import Domain
import FoundationEssentials
import HTTPTypes
import Hummingbird

/// The names of header fields that HTTPTypes does not define.
extension HTTPField.Name {
    static let requestID = named("X-Request-Id")
    static let idempotencyKey = named("Idempotency-Key")
    static let idempotencyReplayed = named("Idempotency-Replayed")
    static let xAccelBuffering = named("X-Accel-Buffering")
    static let referrerPolicy = named("Referrer-Policy")
    static let console = named("X-Paydesk-Console")
    static let secFetchSite = named("Sec-Fetch-Site")

    /// - Parameter name: a valid field name (RFC 9110 section 5.1); a test reads each of them.
    private static func named(_ name: String) -> HTTPField.Name { HTTPField.Name(name) ?? .cookie }
}

/// Entity tags (ETag) from the bytes of an answer's `data` (RFC 9110 sections 8.8.3 and 13.1.2).
enum ETag {
    static func of(_ data: Data) -> String {
        "\"\(Hex.encoded(SHA256.hash(data: data).prefix(16)))\""
    }

    static func matches(_ header: String?, _ tag: String) -> Bool {
        guard let header else { return false }
        return header.split(separator: ",").contains { candidate in
            let candidate = candidate.filter { $0 != " " }
            return candidate == "*" || candidate == tag || candidate == "W/" + tag
        }
    }
}

/// Parses an `Accept-Language` header into languages, the preferred first (RFC 9110 section 12.5.4).
enum AcceptLanguage {
    static func parse(_ header: String?) -> [String] {
        guard let header, header.utf8.count <= 1_000 else { return [] }
        return header.split(separator: ",").prefix(20).enumerated().compactMap {
            index, part -> (String, Double, Int)? in
            let pieces = part.split(separator: ";").map { $0.filter { $0 != " " } }
            guard let tag = pieces.first, !tag.isEmpty else { return nil }
            let quality = pieces.dropFirst().first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) } ?? 1
            return quality > 0 ? (tag, quality, index) : nil
        }
        .sorted { ($1.1, $0.2) < ($0.1, $1.2) }
        .map(\.0)
    }
}

/// Sets `X-Content-Type-Options` (WHATWG Fetch) so that browsers do not guess a media type, and, where this server has
/// the TLS certificate, `Strict-Transport-Security` (RFC 6797).
struct SafetyHeaders<Context: RequestContext>: RouterMiddleware {
    /// The header for a year, in seconds.
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
