import Domain
import Gateway
import HTTPTypes
import Pages

/// Makes the answers of the portal, by the rules of the cashier's pages.
struct PortalPages: Sendable {
    let pages: CashierPages

    private var gateway: Gateway { pages.gateway }
    /// Orders on one page of the overview.
    private static let orderLimit: Int64 = 20
    private static let subscriptionLimit: Int64 = 50

    /// The browser with a session's cookie.
    struct Visitor: Sendable {
        let caller: AuthenticatedSession
        let token: String
    }

    // MARK: Pages of a session

    /// Makes a page of a session; one that is not the user's is `unknown`.
    func page(
        _ call: Call, _ visitor: Visitor, _ place: PortalPlace, notice: CashierPages.Notice? = nil
    ) async throws(GatewayError) -> Answer {
        let caller = visitor.caller
        let locale = pages.locale(caller.session.locale, call.languages)
        let reading = PortalReading(
            gateway: gateway, caller: caller, languages: [locale.rawValue], query: notice == nil ? call.query : [:])
        let found: PortalReading.Found
        do throws(GatewayError) {
            found = try await reading.read(
                place, orders: Self.orderLimit, subscriptions: Self.subscriptionLimit)
        } catch {
            switch error {
            case .unknown, .notFound, .orderNotFound: found = PortalReading.Found(.message(.unknown))
            default: throw error
            }
        }
        if let other = found.redirect { return CashierPages.redirect(PortalFrame.path(caller.id.rawValue) + other) }
        let branding = try await gateway.sessionReading.branding()
        var frame = PortalFrame(
            found.page, locale: locale, branding: try CashierPages.facts(branding), now: gateway.time.now)
        frame.own = PortalFrame.Own(
            session: caller.id.rawValue, csrf: gateway.formCodes.code(caller.id, token: visitor.token),
            returnURL: caller.session.sale.returnURL)
        frame.place = place.path
        frame.names = found.names
        frame.accounts = found.accounts
        frame.alert = notice?.alert
        frame.requestID = notice == nil ? nil : call.requestID
        frame.agent = call.request.headerFields[.userAgent] ?? ""
        let isMissing = found.page.word == "unknown"
        return pages.document(
            pages.pages.render(frame), isMissing ? .notFound : notice?.status ?? .ok, found.policy,
            gzip: call.takesGzip)
    }

    // MARK: Pages without a session

    /// Makes a page that tells nothing of any session.
    func bare(_ call: Call, _ state: PageState, _ status: HTTPResponse.Status) async throws(GatewayError) -> Answer {
        let branding = try await gateway.sessionReading.branding()
        let frame = PortalFrame(
            .message(state), locale: pages.locale(nil, call.languages), branding: try CashierPages.facts(branding),
            now: gateway.time.now)
        return pages.document(pages.pages.render(frame), status, .other, gzip: call.takesGzip)
    }

    /// Makes the page of a refusal.
    func refusal(_ error: GatewayError, languages: [String], requestID: String) -> Answer {
        pages.refusal(error, languages: languages, requestID: requestID, under: .other) { refusal in
            var frame = PortalFrame(
                .message(refusal.state), locale: refusal.locale, branding: refusal.branding, now: gateway.time.now)
            frame.requestID = refusal.requestID
            frame.reload = refusal.reload
            return pages.pages.render(frame)
        }
    }
}
