import Domain
import Foundation
import Gateway
import HTTPTypes
import Pages
import Synchronization

/// Routes of the description of all other routes for programs, and of the documentation for people (`docs/api.md`
/// section 12).
struct DocumentationRoutes {
    private let pages: CashierPages
    private let documentation: Documentation

    /// - Parameter routes: the routes to describe.
    init(describing routes: [Route], version: String, pages: CashierPages) {
        self.pages = pages
        documentation = Documentation(OpenAPIDocument(routes, version: version), pages.pages)
    }

    var routes: [Route] {
        [
            Route("readOpenAPI", .get, "/openapi.json", .anyone, nil, "This description", answers: .json(.any)) {
                [documentation] (_) async throws(GatewayError) in
                .raw(
                    status: .ok, contentType: "application/json; charset=utf-8",
                    body: try documentation.openAPI.get(),
                    headers: [HTTPField(name: .cacheControl, value: Self.revalidated)])
            },
            page("readDocumentation", "/docs", "The documentation's first page, in the browser's language") { call in
                DocumentationPart(nil, pages.locale(call.query["lang"], call.languages).rawValue)
            },
            page("readDocumentationStart", "/docs/{language}", "The documentation's first page") { call in
                DocumentationPart(nil, call.parameters["language"])
            },
            page("readDocumentationPage", "/docs/{language}/{page}", "A page of the documentation") { call in
                DocumentationPart(call.parameters["page"], call.parameters["language"])
            },
        ]
    }

    /// Pages change with a release, so caches must ask again.
    private static let revalidated = "no-cache"

    private func page(
        _ id: String, _ path: String, _ summary: String,
        part: @escaping @Sendable (Call) -> DocumentationPart?
    ) -> Route {
        var route = Route(id, .get, path, .anyone, nil, summary, answers: .other("text/html", "The page.")) {
            (call) async throws(GatewayError) in
            try pages.charge(call)
            guard let requested = part(call) else { throw .notFound }
            return try await answer(requested, call)
        }
        route.refusalPage = { error, languages, requestID in
            pages.refusal(error, languages: languages, requestID: requestID)
        }
        return route
    }

    private func answer(_ part: DocumentationPart, _ call: Call) async throws(GatewayError) -> Answer {
        guard let drawn = try await documentation.drawn(part) else { throw .notFound }
        // Weak, because it is the same for both encodings.
        var headers =
            headers + [
                HTTPField(name: .cacheControl, value: Self.revalidated),
                HTTPField(name: .eTag, value: "W/\(drawn.tag)"),
            ]
        if ETag.matches(call.request.headerFields[.ifNoneMatch], drawn.tag) {
            return .raw(status: .notModified, contentType: part.contentType, body: Data(), headers: headers)
        }
        if drawn.isGzipped, call.takesGzip {
            headers.append(HTTPField(name: .contentEncoding, value: "gzip"))
            return .raw(status: .ok, contentType: part.contentType, body: drawn.content, headers: headers)
        }
        let plain = drawn.isGzipped ? try await documentation.draw(part) : drawn.content
        guard let plain else { throw .notFound }
        return .raw(status: .ok, contentType: part.contentType, body: plain, headers: headers)
    }

    private var headers: [HTTPField] {
        pages.policy.headers(of: .documentation).compactMap { name, value in
            HTTPField.Name(name).map { HTTPField(name: $0, value: value) }
        }
    }
}

/// A file of the documentation's site.
private enum DocumentationPart: Hashable, Sendable {
    /// A page; the first one where `id` is nil.
    case page(id: String?, PageLocale)
    case searchIndex(PageLocale)
    case picture(String)

    /// - Parameters:
    ///   - name: the last part of the address; nil for the first page.
    ///   - folder: a language, or `files`.
    init?(_ name: String?, _ folder: String?) {
        if folder == "files", let name {
            self = .picture(name)
        } else if let locale = folder.flatMap(PageLocale.init) {
            self = name == "search.js" ? .searchIndex(locale) : .page(id: name, locale)
        } else {
            return nil
        }
    }

    var contentType: String {
        switch self {
        case .page: "text/html; charset=utf-8"
        case .searchIndex: "text/javascript; charset=utf-8"
        case .picture: "image/png"
        }
    }
}

/// The documentation, drawn at the first request of each part and kept compressed, because anyone may request it.
private final class Documentation: Sendable {
    struct Drawn: Sendable {
        let content: Data
        let isGzipped: Bool
        /// An entity tag over the plain content.
        let tag: String
    }

    private let document: OpenAPIDocument
    private let pages: Pages
    private let described = Mutex<Result<Data, GatewayError>?>(nil)
    private let made = Mutex<DocsSite?>(nil)
    private let parts = Mutex<[DocumentationPart: Drawn]>([:])

    init(_ document: OpenAPIDocument, _ pages: Pages) {
        self.document = document
        self.pages = pages
    }

    /// The OpenAPI document as JSON.
    var openAPI: Result<Data, GatewayError> {
        described.withLock { described in
            if let described { return described }
            let made: Result<Data, GatewayError>
            do throws(GatewayError) {
                made = .success(try Answer.encode(document.json))
            } catch {
                made = .failure(error)
            }
            described = made
            return made
        }
    }

    private var site: DocsSite {
        made.withLock { made in
            if let made { return made }
            let site = DocsSite(pages: pages, reference: APIReference(document), version: document.version)
            made = site
            return site
        }
    }

    /// Returns a part as it is kept; nil where there is no such part.
    func drawn(_ part: DocumentationPart) async throws(GatewayError) -> Drawn? {
        if let drawn = parts.withLock({ $0[part] }) { return drawn }
        guard let plain = try await draw(part) else { return nil }
        let gzipped = Gzip.compressed(plain, level: 9)
        let drawn = Drawn(content: gzipped ?? plain, isGzipped: gzipped != nil, tag: ETag.of(plain))
        parts.withLock { $0[part] = drawn }
        return drawn
    }

    /// Draws a part anew, away from the event loops, which it would hold up.
    func draw(_ part: DocumentationPart) async throws(GatewayError) -> Data? {
        try await BackgroundThreads.encoding.run { [site] () throws(GatewayError) -> Data? in
            switch part {
            case .page(let id, let locale): site.page(id, in: locale).map { Data($0.utf8) }
            case .searchIndex(let locale): Data(site.searchIndex(in: locale).utf8)
            case .picture(let name): site.picture(named: name)
            }
        }
    }
}
