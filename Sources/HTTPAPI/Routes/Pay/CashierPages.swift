import Domain
import FoundationEssentials
import Gateway
import HTTPTypes
import Pages

/// Makes the answers of the cashier: pages from the facts of a session, and refusals as pages.
struct CashierPages: Sendable {
    let gateway: Gateway
    let pages: Pages
    let limiter: RateLimiter

    var door: SessionDoor { SessionDoor(publicURL: gateway.settings.publicURL, codes: gateway.formCodes) }
    var policy: PagePolicy { PagePolicy(publicURL: gateway.settings.publicURL) }

    /// The outcome of an act, which the page shows.
    struct Notice: Sendable {
        let alert: PageAlert
        var status: HTTPResponse.Status = .ok
    }

    /// Charges an address for a page.
    ///
    /// - Throws: `rateLimited`.
    func charge(_ call: Call) throws(GatewayError) {
        let address = call.from.address(call.request.headerFields)
        if let wait = limiter.take(address.map { "\($0.source)" } ?? "unknown") {
            throw .rateLimited(retryAfter: max(1, wait))
        }
    }

    // MARK: Pages of a session

    /// Makes the page of a session.
    func page(
        _ call: Call, _ caller: AuthenticatedSession, token: String, notice: Notice? = nil
    ) async throws(GatewayError) -> Answer {
        let view = notice == nil ? call.query["view"].flatMap(CashierFacts.View.init) : nil
        let locale = locale(caller.session.locale, call.languages)
        let snapshot = try await gateway.sessionReading.find(
            caller, view: view, hasReturned: call.query["redirect_status"] != nil
        ).speaking([locale.rawValue])
        let session: SessionFacts = try Self.facts(snapshot)
        var frame = CashierFrame(
            .cashier(session.state ?? .unavailable), locale: locale, branding: try Self.facts(snapshot.branding),
            now: gateway.time.now)
        frame.reason = session.reason
        frame.session = session
        frame.own = CashierFrame.Own(token: token, csrf: gateway.formCodes.code(caller.id, token: token))
        frame.products = try await products(session, caller, locale)
        frame.methods = try await methods(session, caller)
        frame.alert = notice?.alert
        frame.requestID = notice == nil ? nil : call.requestID
        frame.agent = call.request.headerFields[.userAgent] ?? ""
        frame.leaveOut()
        let takesCards = frame.methods.contains { $0.kind == "stripe" && $0.type == .stripe }
        return html(frame, notice?.status ?? .ok, takesCards ? .cardCashier : .cashier, gzip: call.takesGzip)
    }

    private func products(
        _ session: SessionFacts, _ caller: AuthenticatedSession, _ locale: PageLocale
    ) async throws(GatewayError) -> [ProductFacts] {
        let wanted = Set(session.skus + (session.order.map { [$0.sku] } ?? []))
        let products = try await gateway.catalogue.products(
            user: caller.user, platform: nil, currency: nil, languages: [locale.rawValue])
        return try Self.facts(products.filter { wanted.contains($0.sku.id) }.map(ProductItem.init))
    }

    /// Lists the ways to pay for the chosen plan; none before a plan is chosen.
    private func methods(
        _ session: SessionFacts, _ caller: AuthenticatedSession
    ) async throws(GatewayError) -> [MethodFacts] {
        do throws(GatewayError) {
            return try Self.facts(try await gateway.sessionCheckout.paymentMethods(SessionFields(), caller))
        } catch {
            switch error {
            // A session without a choice, or with one that is no longer sold: the state says so.
            case .invalidRequest, .skuNotFound, .noProvider, .noProviderAvailable: return []
            default: throw error
            }
        }
    }

    // MARK: Pages without a session

    /// Makes a page that tells nothing of any session.
    func bare(_ call: Call, _ state: PageState, _ status: HTTPResponse.Status) async throws(GatewayError) -> Answer {
        let branding = try await gateway.sessionReading.branding()
        let frame = CashierFrame(
            state, locale: locale(nil, call.languages), branding: try Self.facts(branding), now: gateway.time.now)
        return html(frame, status, .cashier, gzip: call.takesGzip)
    }

    /// The facts of a refusal that a page is drawn from.
    struct Refusal {
        let state: PageState
        let locale: PageLocale
        let branding: BrandingFacts
        let requestID: String
        /// The address that loads the page again; nil where it is not there.
        var reload: String? { state == .unknown ? nil : "?" }
    }

    /// Makes the cashier's page of a refusal.
    func refusal(_ error: GatewayError, languages: [String], requestID: String) -> Answer {
        refusal(error, languages: languages, requestID: requestID, under: .cashier) { refusal in
            var frame = CashierFrame(
                refusal.state, locale: refusal.locale, branding: refusal.branding, now: gateway.time.now)
            frame.requestID = refusal.requestID
            frame.reload = refusal.reload
            return pages.render(frame)
        }
    }

    /// Makes the page of a refusal, without reading anything.
    func refusal(
        _ error: GatewayError, languages: [String], requestID: String, under page: PagePolicy.Page,
        draw: (Refusal) -> String
    ) -> Answer {
        let reply = ErrorReply(error)
        let state: PageState =
            switch reply.status.code {
            case 404: .unknown
            case 429: .busy
            default: .error
            }
        let branding = Branding(
            gateway.settings.pages, publicURL: gateway.settings.publicURL, isTest: gateway.settings.isDevelopment)
        guard let facts: BrandingFacts = try? Self.facts(branding) else {
            return .raw(status: reply.status, contentType: "text/plain; charset=utf-8", body: Data(), headers: [])
        }
        let refusal = Refusal(state: state, locale: locale(nil, languages), branding: facts, requestID: requestID)
        let retry = reply.retryAfter.map { [HTTPField(name: .retryAfter, value: String($0))] } ?? []
        return document(draw(refusal), reply.status, page, gzip: false, retry)
    }

    /// Makes the console's page.
    func console(_ call: Call, version: String) -> Answer {
        let settings = gateway.settings
        let branding = Branding(settings.pages, publicURL: settings.publicURL, isTest: settings.isDevelopment)
        let frame = ConsoleFrame(
            locale: locale(nil, call.languages), name: branding.name, version: version,
            isDevelopment: settings.isDevelopment)
        return document(pages.render(frame), .ok, .other, gzip: call.takesGzip, [])
    }

    // MARK: Parts

    /// Leads to another address, by GET.
    static func redirect(_ address: String, _ headers: [HTTPField] = []) -> Answer {
        .raw(
            status: .seeOther, contentType: "text/plain; charset=utf-8", body: Data(),
            headers: [
                HTTPField(name: .location, value: address), HTTPField(name: .cacheControl, value: "no-store"),
                // The address of this answer has the token.
                HTTPField(name: .referrerPolicy, value: "no-referrer"),
            ] + headers)
    }

    /// The language of a page: a choice, else the browser's, else the configured one.
    func locale(_ own: String?, _ languages: [String]) -> PageLocale {
        own.flatMap(PageLocale.init) ?? PageLocale(preferred: languages)
            ?? PageLocale(rawValue: gateway.settings.pages.defaultLocale) ?? .english
    }

    /// Reads an answer of the API as the module in the browser does.
    static func facts<Facts: Decodable>(_ answer: some Encodable) throws(GatewayError) -> Facts {
        let data = try Answer.encode(answer)
        do { return try JSONDecoder().decode(Facts.self, from: data) } catch { throw .internalError }
    }

    private func html(
        _ frame: CashierFrame, _ status: HTTPResponse.Status, _ page: PagePolicy.Page, gzip: Bool,
        _ extra: [HTTPField] = []
    ) -> Answer {
        document(pages.render(frame), status, page, gzip: gzip, extra)
    }

    /// Answers with a document under the headers of pages.
    func document(
        _ text: String, _ status: HTTPResponse.Status, _ page: PagePolicy.Page, gzip: Bool, _ extra: [HTTPField] = []
    ) -> Answer {
        let plain = Data(text.utf8)
        let compressed = gzip ? Gzip.compressed(plain) : nil
        var headers = policy.headers(of: page).compactMap { name, value in
            HTTPField.Name(name).map { HTTPField(name: $0, value: value) }
        }
        if compressed != nil { headers.append(HTTPField(name: .contentEncoding, value: "gzip")) }
        return .raw(
            status: status, contentType: "text/html; charset=utf-8", body: compressed ?? plain,
            headers: headers + extra)
    }
}
