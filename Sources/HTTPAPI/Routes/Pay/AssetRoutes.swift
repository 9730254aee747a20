import FoundationEssentials
import Gateway
import HTTPTypes
import Pages

/// Routes of the pages' styles, modules and texts, and of `paydesk.js`.
struct AssetRoutes {
    let assets: Assets
    let version: String

    private static let immutable = "public, max-age=31536000, immutable"

    var routes: [Route] {
        [
            asset("readPageAsset", "/assets/{name}/{file}") { call in
                "\(call.parameters["name"] ?? "")/\(call.parameters["file"] ?? "")"
            },
            asset("readThemeAsset", "/assets/{name}") { call in call.parameters["name"] ?? "" },
            sdk("readSDKFile", "/sdk/{name}/{file}"),
            Route(
                "readSDK", .get, "/sdk/{name}", .anyone, nil, "The browser's client",
                answers: .other("text/javascript", "The module."), isAlwaysServed: true
            ) { (call) async throws(GatewayError) in
                let name = try call.parameter("name")
                if name == "paydesk.js" {
                    let text = "export * from \"./\(version)/paydesk.js\";\n"
                    return .raw(
                        status: .ok, contentType: "text/javascript; charset=utf-8", body: Data(text.utf8),
                        headers: Self.shared(caching: "no-cache"))
                }
                guard name == "paydesk.d.ts", let asset = assets.sdk(named: name) else { throw .notFound }
                return Self.answer(asset, call, Self.shared(caching: "no-cache"))
            },
        ]
    }

    private func asset(_ id: String, _ path: String, name: @escaping @Sendable (Call) -> String) -> Route {
        Route(
            id, .get, path, .anyone, nil, "A file of the pages", answers: .other("text/css", "The file."),
            isAlwaysServed: true
        ) { (call) async throws(GatewayError) in
            guard let asset = assets.asset(named: name(call)) else { throw .notFound }
            return Self.answer(asset, call, [HTTPField(name: .cacheControl, value: Self.immutable)])
        }
    }

    private func sdk(_ id: String, _ path: String) -> Route {
        Route(
            id, .get, path, .anyone, nil, "A file of the browser's client",
            answers: .other("text/javascript", "The module."), isAlwaysServed: true
        ) { (call) async throws(GatewayError) in
            guard try call.parameter("name") == version, let asset = assets.sdk(named: try call.parameter("file"))
            else { throw .notFound }
            return Self.answer(asset, call, Self.shared(caching: Self.immutable))
        }
    }

    /// Returns the headers of files that pages of every origin may load.
    private static func shared(caching: String) -> [HTTPField] {
        [
            HTTPField(name: .cacheControl, value: caching), HTTPField(name: .accessControlAllowOrigin, value: "*"),
            HTTPField(name: .crossOriginResourcePolicy, value: "cross-origin"),
        ]
    }

    private static func answer(_ asset: Asset, _ call: Call, _ headers: [HTTPField]) -> Answer {
        var headers = headers + [HTTPField(name: .vary, value: "Accept-Encoding")]
        if let gzipped = asset.gzipped, call.takesGzip {
            headers.append(HTTPField(name: .contentEncoding, value: "gzip"))
            return .raw(status: .ok, contentType: asset.contentType, body: gzipped, headers: headers)
        }
        return .raw(status: .ok, contentType: asset.contentType, body: asset.content, headers: headers)
    }
}

extension Call {
    /// True where the client takes gzip (RFC 9110 section 12.5.3).
    var takesGzip: Bool { AcceptEncoding.takesGzip(request.headerFields[.acceptEncoding]) }
}

/// Reads an `Accept-Encoding` header.
enum AcceptEncoding {
    static func takesGzip(_ header: String?) -> Bool {
        guard let header, header.utf8.count <= 1_000 else { return false }
        return header.split(separator: ",").contains { part in
            let pieces = part.split(separator: ";").map { $0.filter { $0 != " " }.lowercased() }
            let quality = pieces.dropFirst().first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) } ?? 1
            return pieces.first == "gzip" && quality > 0
        }
    }
}
