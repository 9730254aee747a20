package import Domain

/// A state of the page: one of a session, or one that tells nothing of any.
package enum PageState: Sendable, Equatable {
    /// The page of a session.
    case cashier(CashierState)
    /// The browser has not the session's cookie.
    case elsewhere
    /// The session has ended.
    case expired
    /// The token is no session's.
    case unknown
    /// Too many visits.
    case busy
    /// A failure of the server.
    case error

    var word: String {
        switch self {
        case .cashier(let state): state.rawValue
        case .elsewhere: "elsewhere"
        case .expired: "expired"
        case .unknown: "unknown"
        case .busy: "busy"
        case .error: "error"
        }
    }

    /// True where a contract waits for the payer.
    var isPaying: Bool {
        switch self {
        case .cashier(.qr), .cashier(.redirect), .cashier(.stripe), .cashier(.applePay), .cashier(.appleIAP),
            .cashier(.wechatJSAPI):
            true
        default: false
        }
    }
}

/// The reason why an act did nothing.
package enum PageAlert: String, Sendable, CaseIterable {
    case refused, terms, conflict, forbidden, invalid
    /// An answer to WeChat's authorisation that is not this session's, or came too late or twice.
    case authorisation
    case providerUnavailable = "provider_unavailable"
    case noProviderAvailable = "no_provider_available"
    case rateLimited = "rate_limited"
    case sessionOver = "session_over"
}

/// Everything that a page of the cashier is drawn from.
package struct CashierFrame: Sendable {
    /// The part of the page that belongs to the browser with the session's cookie.
    package struct Own: Sendable {
        package let token: String
        package let csrf: String

        package init(token: String, csrf: String) {
            self.token = token
            self.csrf = csrf
        }
    }

    package var state: PageState
    package var reason: String?
    package var locale: PageLocale
    package var branding: BrandingFacts
    /// nil where the page tells nothing of a session.
    package var session: SessionFacts?
    package var own: Own?
    package var products: [ProductFacts] = []
    package var methods: [MethodFacts] = []
    package var alert: PageAlert?
    package var requestID: String?
    /// The text of `User-Agent`.
    package var agent = ""
    package var now: Timestamp
    /// The address that loads the page again, in `busy` and `error`.
    package var reload: String?

    package init(_ state: PageState, locale: PageLocale, branding: BrandingFacts, now: Timestamp) {
        self.state = state
        self.locale = locale
        self.branding = branding
        self.now = now
    }

    /// Shows that this browser can use none of the methods, and inside WeChat that another one can.
    package mutating func leaveOut() {
        let usable = UsableMethods(methods, agent: agent)
        guard state == .cashier(.methods), usable.items.isEmpty, !isFree else { return }
        // WeChat's sheet is in no list before WeChat has named the payer.
        let isInWeChat = usable.isPartOf || (methods.isEmpty && PayerBrowser(agent: agent).isWeChat)
        guard isInWeChat || !methods.isEmpty else { return }
        state = .cashier(.unavailable)
        reason = isInWeChat ? "in_wechat" : CashierFacts.Unavailable.noAccount.rawValue
    }

    private var isFree: Bool {
        session.map { CashierContext(frame: self, t: PageTexts(nil)).isFree($0) } ?? false
    }

    /// The path of another page that shows the state; nil for the cashier's own.
    var page: String?

    /// The path of the page, where forms are posted.
    var address: String? { page ?? session.map { "/pay/s/\($0.id)" } }
}
