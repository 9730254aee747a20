package import Domain
import Mustache

/// Everything that a page of the portal is drawn from.
package struct PortalFrame: Sendable {
    /// A question before an act on a subscription.
    package enum Question: Sendable {
        case cancel
        case change(PlanFacts)
    }

    /// The part of a subscription that its page shows.
    package enum Look: Sendable {
        case facts
        /// The plans to which it can change.
        case plans
        case question(Question)
    }

    package enum Page: Sendable {
        case overview(OverviewFacts)
        case order(OrderFacts)
        case subscription(SubscriptionFacts, [PlanFacts], Look)
        case card(SubscriptionFacts, CardFacts)
        /// A page that tells nothing of what the user owns.
        case message(PageState)

        package var word: String {
            switch self {
            case .overview: "overview"
            case .order: "order"
            case .subscription: "subscription"
            case .card: "card"
            case .message(let state): state.word
            }
        }
    }

    /// The browser's session.
    package struct Own: Sendable {
        package let session: String
        package let csrf: String
        package let returnURL: String?

        package init(session: String, csrf: String, returnURL: String?) {
            self.session = session
            self.csrf = csrf
            self.returnURL = returnURL
        }
    }

    package let page: Page
    package var locale: PageLocale
    package var branding: BrandingFacts
    package var now: Timestamp
    /// nil where the browser has no session that is open.
    package var own: Own?
    /// The path of this page below the session's.
    package var place = ""
    /// Names of SKUs.
    package var names: [String: String] = [:]
    /// The accounts of payments, for receipts.
    package var accounts: [MethodFacts] = []
    package var alert: PageAlert?
    package var requestID: String?
    /// The address that loads the page again, in `busy` and `error`.
    package var reload: String?
    /// The text of `User-Agent`.
    package var agent = ""

    package init(_ page: Page, locale: PageLocale, branding: BrandingFacts, now: Timestamp) {
        self.page = page
        self.locale = locale
        self.branding = branding
        self.now = now
    }

    package static func path(_ session: String) -> String { "/portal/s/\(session)" }

    /// The path of the overview; nil without a session.
    var home: String? { own.map { Self.path($0.session) } }
    /// The path of the page, where forms are posted.
    var address: String? { home.map { $0 + place } }
}

extension Pages {
    /// Renders a page of the portal as HTML.
    package func render(_ frame: PortalFrame) -> String {
        guard let t = portalTexts[frame.locale] else { return "" }
        let portal = PortalContext(frame: frame, t: t)
        let body = portal.body
        let own = frame.own
        let title = body.context["title"] as? String ?? ""
        let members = context([
            "lang": frame.locale.rawValue,
            "title": t.fill("page_title", ["title": title, "shop": frame.branding.name]), "styles": styles,
            "module": own == nil ? nil : assets.address(of: "portal/portal.js"),
            "texts": own == nil ? nil : assets.address(of: "texts/\(frame.locale.rawValue).json"),
            "refresh": body.isWaiting, "test": frame.branding.test,
            "branding": branding(frame.branding), "address": frame.address, "csrf": own?.csrf,
            "languages": own == nil ? [] : frame.locale.others, "main": portal.main(body.main), "home": frame.home,
            "alert": portal.alert(in: body.context), "live": body.live ?? title, "t": t.table, "words": t.table,
            "plain": body.template != "message", body.template: body.context,
        ])
        return library.render(members, withTemplate: "portal") ?? ""
    }
}
