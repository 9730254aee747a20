import Domain
import FoundationEssentials
import Gateway
import HTTPTypes
import Pages

/// Routes of the payer's portal (`docs/portal.md`): entering, its pages and their forms.
struct PortalRoutes {
    let portal: PortalPages

    private var pages: CashierPages { portal.pages }
    private static let formLimit = 8 << 10

    private static let root = "/portal/s/{session}"

    var routes: [Route] {
        let order: @Sendable (Call) throws(GatewayError) -> PortalPlace = { call throws(GatewayError) in
            .order(try call.parameter("id"))
        }
        let subscription: @Sendable (Call) throws(GatewayError) -> PortalPlace = { call throws(GatewayError) in
            .subscription(try call.parameter("id"))
        }
        let card: @Sendable (Call) throws(GatewayError) -> PortalPlace = { call throws(GatewayError) in
            .card(try call.parameter("id"))
        }
        let all =
            [
                shown("enterPortal", "/portal/{token}", "Opens a user's portal in this browser", handle: enter),
                // The router prefers the letter to a token of one letter.
                shown("enterPortalWithoutToken", "/portal/s", "A link that lost its end") {
                    (call) async throws(GatewayError) in
                    try pages.charge(call)
                    return try await portal.bare(call, .unknown, .notFound)
                },
            ]
            + page("Overview", "", "What the user owns, subscriptions and orders") { _ in .overview }
            + page("Order", "/orders/{id}", "An order as a receipt", order)
            + page("Subscription", "/subscriptions/{id}", "A subscription", subscription)
            + page("Card", "/subscriptions/{id}/card", "The payment method of a subscription", card)
            // The router does not look for a parameter where a word of its own fits.
            + [("Orders", "/orders"), ("Subscriptions", "/subscriptions"), ("Unknown", "/{page}")].map { name, path in
                shown("showPortal\(name)", Self.root + path, "A page that is not there") {
                    (call) async throws(GatewayError) in try await show(call, .nothing)
                }
            }
        return all.map { route in
            var route = route
            route.refusalPage = { error, languages, requestID in
                portal.refusal(error, languages: languages, requestID: requestID)
            }
            return route
        }
    }

    private func shown(
        _ id: String, _ path: String, _ summary: String,
        handle: @escaping @Sendable (Call) async throws(GatewayError) -> Answer
    ) -> Route {
        Route(
            id, .get, path, .anyone, nil, summary, answers: .other("text/html", "The page."), handle: handle)
    }

    /// The routes of one page: to look at it, and its forms.
    private func page(
        _ name: String, _ path: String, _ summary: String,
        _ place: @escaping @Sendable (Call) throws(GatewayError) -> PortalPlace
    ) -> [Route] {
        [
            shown("showPortal\(name)", Self.root + path, summary) { (call) async throws(GatewayError) in
                try await show(call, try place(call))
            },
            Route(
                "actInPortal\(name)", .post, Self.root + path, .anyone, nil, "A form of the page",
                body: .other("The page's form."), bodyLimit: Self.formLimit,
                answers: .other("text/html", "The page."), idempotency: .ignored
            ) { (call) async throws(GatewayError) in try await act(call, try place(call)) },
        ]
    }

    private func enter(_ call: Call) async throws(GatewayError) -> Answer {
        try await pages.enter(call, .portal) { (call, state, status) async throws(GatewayError) in
            try await portal.bare(call, state, status)
        }
    }

    private func show(_ call: Call, _ place: PortalPlace) async throws(GatewayError) -> Answer {
        try pages.charge(call)
        return try await answer(call, place)
    }

    private func answer(_ call: Call, _ place: PortalPlace) async throws(GatewayError) -> Answer {
        switch try await pages.visit(call, .portal) {
        case .elsewhere: return try await portal.bare(call, .elsewhere, .ok)
        case .expired: return try await portal.bare(call, .expired, .gone)
        case .own(let caller, let token):
            return try await portal.page(call, PortalPages.Visitor(caller: caller, token: token), place)
        }
    }

    private func act(_ call: Call, _ place: PortalPlace) async throws(GatewayError) -> Answer {
        try pages.charge(call)
        guard case .own(let caller, let token) = try await pages.visit(call, .portal) else {
            return try await answer(call, place)
        }
        let visitor = PortalPages.Visitor(caller: caller, token: token)
        let form = Dictionary(FormDecoder.decode(String(decoding: call.body, as: UTF8.self))) { first, _ in first }
        guard pages.door.accepts(call, form, caller.id, token) else {
            let notice = CashierPages.Notice(alert: .forbidden, status: .forbidden)
            return try await portal.page(call, visitor, place, notice: notice)
        }
        let forms = PortalForms(gateway: pages.gateway, call: call, caller: caller, form: form, place: place)
        do throws(GatewayError) {
            let next = try await forms.run()
            return CashierPages.redirect(PortalFrame.path(caller.id.rawValue) + next)
        } catch {
            guard let alert = PageAlert(error) else { throw error }
            return try await portal.page(call, visitor, place, notice: CashierPages.Notice(alert: alert))
        }
    }
}
