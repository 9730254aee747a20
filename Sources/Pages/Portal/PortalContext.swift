import Domain

/// The contexts of the portal's templates.
struct PortalContext {
    /// A template with its context.
    struct Body {
        let template: String
        var context: Context
        /// Attributes of `<main>` beside the state's and the session's.
        var main: Context = [:]
        /// The page in words for those who cannot see it; nil for its title.
        var live: String?
        /// True where the page is loaded again by itself.
        var isWaiting = false
    }

    let frame: PortalFrame
    let t: PageTexts

    var locale: PageLocale { frame.locale }

    var body: Body {
        switch frame.page {
        case .overview(let facts): return overview(facts)
        case .order(let order): return self.order(order)
        case .subscription(let facts, let plans, let look): return subscription(facts, plans, look)
        case .card(let subscription, let card): return PortalCard(portal: self, subscription, card).body
        case .message(let state): return message(state)
        }
    }

    func main(_ more: Context) -> Context {
        context(["state": frame.page.word, "session": frame.own?.session]).merging(more) { $1 }
    }

    /// The alert of the last act, else that of the page itself.
    func alert(in own: Context) -> Context? {
        guard let alert = frame.alert else { return own["own_alert"] as? Context }
        let request = frame.requestID.map { t.fill("alert_request_id", ["id": $0]) }
        return context([
            "reason": alert.rawValue, "title": t["alert_\(alert.rawValue)"], "text": t["alert_\(alert.rawValue)_text"],
            "request_id": request, "mild": false,
        ])
    }

    // MARK: Parts

    func name(_ sku: String?) -> String { sku.map { frame.names[$0] ?? $0 } ?? "" }

    func name(_ facts: SubscriptionFacts) -> String {
        facts.sku.map { name($0) } ?? facts.product_id ?? facts.id
    }

    func amount(_ money: Money) -> String { PageWords.amount(money, locale) }

    func shown(_ money: Money) -> Context {
        ["amount": amount(money), "value": money.value, "currency": money.currency.code]
    }

    func day(_ time: Timestamp) -> Context {
        ["datetime": PageWords.iso(time), "text": PageWords.day(time, locale), "form": "day"]
    }

    func minute(_ time: Timestamp) -> Context {
        ["datetime": PageWords.iso(time), "text": PageWords.minute(time, locale), "form": "minute"]
    }

    /// A sentence with a day in it, for `dated.mustache`.
    func dated(_ key: String, _ time: Timestamp, _ values: [String: String] = [:]) -> Context {
        let text = PageWords.day(time, locale)
        let parts = PageWords.split(t[key], at: "date", text, values)
        return ["before": parts.before, "after": parts.after].merging(day(time)) { $1 }
    }

    /// A sentence without a day.
    func plain(_ key: String, _ values: [String: String] = [:]) -> Context { ["before": t.fill(key, values)] }

    /// A status in words, with its icon and tone.
    func tag(_ word: String, _ tone: String?) -> Context {
        let icon = tone == "good" ? "check" : tone == nil ? nil : "alert"
        return context(["text": t[word], "tone": tone, "icon": icon])
    }

    func period(_ period: PeriodFacts) -> String {
        let key = period.count == 1 ? "every_\(period.unit)" : "every_\(period.unit)s"
        return t.fill(key, ["count": "\(period.count)"])
    }

    /// The shop's way to ask about something, with its number in the address.
    func support(_ number: String?) -> String? {
        guard let address = frame.branding.support_url else { return nil }
        guard let number else { return address }
        let name = address.hasPrefix("mailto:") ? "subject" : "order"
        let (rest, fragment) = address.cut(at: "#")
        return "\(rest)\(rest.contains("?") ? "&" : "?")\(name)=\(number)" + (fragment.map { "#\($0)" } ?? "")
    }

    // MARK: Messages

    private func message(_ state: PageState) -> Body {
        let key = state.word
        let back = frame.home.map { home -> Context in ["href": home, "text": t["portal_back"]] }
        let support: Context? =
            state == .expired
            ? frame.branding.support_url.map { ["href": $0, "text": t["write_support"]] as Context } : nil
        let signs: [PageState: (String, String?)] = [
            .elsewhere: ("window", nil), .expired: ("clock", nil), .unknown: ("off", nil), .busy: ("clock", "warn"),
        ]
        let sign = signs[state] ?? ("alert", "bad")
        // A part of the portal that is not there is no link that was lost.
        let own = state == .unknown && frame.home != nil ? "portal_missing" : key
        return Body(
            template: "message",
            context: context([
                "sign": context(["icon": sign.0, "tone": sign.1]), "title": t["\(own)_title"],
                "lead": t["\(own)_lead"], "number": state == .error ? frame.requestID : nil, "back": back,
                "back_first": true, "support": support, "reload": frame.reload,
            ]))
    }
}

extension PageState: Hashable {
    package func hash(into hasher: inout Hasher) { hasher.combine(word) }
}

extension String {
    /// Cuts a text at the first of a letter.
    fileprivate func cut(at mark: Character) -> (String, String?) {
        guard let place = firstIndex(of: mark) else { return (self, nil) }
        return (String(self[..<place]), String(self[index(after: place)...]))
    }
}
