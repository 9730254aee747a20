import FoundationEssentials
import Gateway
import HTTPTypes
import Hummingbird

/// Routes of the page at `/dev/appstore` and of its assets, which are part of the binary.
struct AppStoreBoxPage {
    /// The page loads only what this server serves, sends only to it, and runs nothing that stands in the page itself.
    private static let policy = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
        form-action 'none'; base-uri 'none'; frame-ancestors 'none'
        """

    var routes: [Route] {
        [
            asset("readAppStoreBox", "/dev/appstore", "text/html; charset=utf-8", PackageResources.page_html),
            asset(
                "readAppStoreBoxTokens", "/dev/appstore/tokens.css", "text/css; charset=utf-8",
                PackageResources.tokens_css),
            asset(
                "readAppStoreBoxStyle", "/dev/appstore/page.css", "text/css; charset=utf-8", PackageResources.page_css),
            asset(
                "readAppStoreBoxScript", "/dev/appstore/page.js", "text/javascript; charset=utf-8",
                PackageResources.page_js),
            asset(
                "readAppStoreBoxTexts", "/dev/appstore/texts.js", "text/javascript; charset=utf-8",
                PackageResources.texts_js),
            asset(
                "readAppStoreBoxViews", "/dev/appstore/views.js", "text/javascript; charset=utf-8",
                PackageResources.views_js),
        ]
    }

    private func asset(_ id: String, _ path: String, _ type: String, _ bytes: [UInt8]) -> Route {
        let body = Data(bytes)
        return Route(
            id, .get, path, .anyone, nil, "A part of the box's page", answers: .other(type, "The text."),
            isLocal: true, errors: .bare
        ) { (_) async throws(GatewayError) in
            .raw(
                status: .ok, contentType: type, body: body,
                headers: [
                    HTTPField(name: .contentSecurityPolicy, value: Self.policy),
                    HTTPField(name: .cacheControl, value: "no-cache"),
                    HTTPField(name: .referrerPolicy, value: "no-referrer"),
                ])
        }
    }
}
