import Domain
import Foundation
import Gateway
import HTTPTypes
import Synchronization

/// Routes of the description of all other routes, for programs and for people (`docs/api.md` section 12).
struct DocumentationRoutes {
    private let documentation: Documentation

    /// - Parameter routes: the routes to describe.
    init(describing routes: [Route], version: String) {
        documentation = Documentation(OpenAPIDocument(routes, version: version))
    }

    var routes: [Route] {
        [
            Route("readOpenAPI", .get, "/openapi.json", .anyone, nil, "This description", answers: .json(.any)) {
                [documentation] (_) async throws(GatewayError) in
                .raw(
                    status: .ok, contentType: "application/json; charset=utf-8",
                    body: try documentation.text.get().json, headers: Self.headers)
            },
            Route(
                "readDocumentation", .get, "/docs", .anyone, nil, "The same as a page",
                answers: .other("text/html", "The page.")
            ) { [documentation] (_) async throws(GatewayError) in
                let policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'"
                return .raw(
                    status: .ok, contentType: "text/html; charset=utf-8", body: try documentation.text.get().page,
                    headers: Self.headers + [
                        HTTPField(name: .contentSecurityPolicy, value: policy),
                        HTTPField(name: .xContentTypeOptions, value: "nosniff"),
                    ])
            },
        ]
    }

    /// The document changes with a release, so caches must ask again.
    private static let headers = [HTTPField(name: .cacheControl, value: "no-cache")]
}

/// The document in its two forms, made at the first request and cached, because they are large and anyone may request
/// them.
private final class Documentation: Sendable {
    typealias Text = Result<(json: Data, page: Data), GatewayError>

    private let document: OpenAPIDocument
    private let made = Mutex<Text?>(nil)

    init(_ document: OpenAPIDocument) { self.document = document }

    var text: Text {
        made.withLock { made in
            if let made { return made }
            let text: Text
            do throws(GatewayError) {
                let page = DocsPage(document: document).html
                text = .success((try Answer.encode(document.json), Data(page.utf8)))
            } catch {
                text = .failure(error)
            }
            made = text
            return text
        }
    }
}
