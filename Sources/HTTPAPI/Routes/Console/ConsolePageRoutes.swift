import FoundationEssentials
import Gateway
import HTTPTypes
import Pages

/// The route of the console's page (`docs/console.md`); what it shows comes from the admin API.
struct ConsolePageRoutes {
    let pages: CashierPages
    let version: String

    var routes: [Route] {
        [
            Route(
                "showConsole", .get, "/console", .anyone, nil, "The console's page",
                answers: .other("text/html", "The page."), handle: show)
        ].map { route in
            var route = route
            route.refusalPage = { error, languages, requestID in
                pages.refusal(error, languages: languages, requestID: requestID)
            }
            return route
        }
    }

    private func show(_ call: Call) async throws(GatewayError) -> Answer {
        try pages.charge(call)
        return pages.console(call, version: version)
    }
}
