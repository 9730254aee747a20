import FoundationEssentials
import Gateway
import HTTPTypes
import Pages

/// Route of the page at `/dev/appstore`; its files are served with those of the other pages.
struct AppStoreBoxPage {
    let pages: CashierPages

    var routes: [Route] {
        [
            Route(
                "readAppStoreBox", .get, "/dev/appstore", .anyone, nil, "The page of the App Store in a box",
                answers: .other("text/html", "The page."), isLocal: true, errors: .bare
            ) { (_) async throws(GatewayError) in
                .raw(
                    status: .ok, contentType: "text/html; charset=utf-8", body: Data(pages.pages.renderBox().utf8),
                    headers: pages.policy.headers(of: .other).compactMap { name, value in
                        HTTPField.Name(name).map { HTTPField(name: $0, value: value) }
                    })
            }
        ]
    }
}
