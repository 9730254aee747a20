import Domain
import Foundation
import Gateway
import HTTPTypes

/// The route of the page at `/`, which introduces the server and links to its documentation.
struct FirstPageRoutes {
    let isDevelopment: Bool
    let version: String

    var routes: [Route] {
        [
            Route(
                "readFirstPage", .get, "/", .anyone, .operations, "A small page: what this is, and where to go on",
                answers: .other("text/html", "The page.")
            ) { (_) async throws(GatewayError) in
                let policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'"
                return .raw(
                    status: .ok, contentType: "text/html; charset=utf-8", body: Data(html.utf8),
                    headers: [
                        HTTPField(name: .contentSecurityPolicy, value: policy),
                        HTTPField(name: .cacheControl, value: "no-cache"),
                        HTTPField(name: .xContentTypeOptions, value: "nosniff"),
                    ])
            }
        ]
    }

    private var html: String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>Paydesk</title>
        <style>
        body { font: 16px/1.5 system-ui, sans-serif; max-width: 44rem; margin: 3rem auto; padding: 0 1rem; }
        pre { background: #f4f4f4; color: #222; padding: 1rem; overflow-x: auto; }
        @media (prefers-color-scheme: dark) {
          body { background: #16181c; color: #e6e6e6; }
          a { color: #8ab4f8; }
          pre { background: #24272d; color: #e6e6e6; }
        }
        </style>
        </head>
        <body>
        <main>
        <h1>Paydesk</h1>
        <p>The payment desk between an app and its payment providers. This is version \(version).</p>
        <ul>
        <li><a href="/docs">Every call, with its fields and answers</a></li>
        <li><a href="/openapi.json">The same for programs (OpenAPI)</a></li>
        <li><a href="/readyz">Whether this server is ready</a></li>
        </ul>
        \(testPurchase)
        </main>
        </body>
        </html>
        """
    }

    /// A purchase with the sandbox, only in development mode.
    private var testPurchase: String {
        guard isDevelopment else { return "" }
        return """
            <h2>A test purchase</h2>
            <p>Development mode is on. On the machine that serves this page, in its working directory:</p>
            <pre>TOKEN=$(paydesk token --user demo)
            curl -sH "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" \\
              -d '{"sku":"vip_month","platform":"web"}' "$DESK/v1/public/checkout"</pre>
            <p>with this page's address as <code>DESK</code>. Open the <code>checkout_url</code> of the answer, press
            the button that pays, and see what the user owns now:</p>
            <pre>curl -sH "Authorization: Bearer $TOKEN" "$DESK/v1/public/entitlements"</pre>
            """
    }
}
