import Domain
import FoundationEssentials
import Gateway
import HTTPTypes
import Pages

/// Routes of the hosted cashier (`docs/cashier.md`): entering, the page, its forms and its code.
struct CashierRoutes {
    let pages: CashierPages

    private var gateway: Gateway { pages.gateway }
    private static let formLimit = 8 << 10

    var routes: [Route] {
        let html = Route.Outcome.other("text/html", "The page.")
        return [
            Route(
                "enterCashier", .get, "/pay/{token}", .anyone, nil, "Opens a session's page in this browser",
                answers: html, handle: enter),
            // The router prefers the letter to a token of one letter.
            Route(
                "enterCashierWithoutToken", .get, "/pay/s", .anyone, nil, "A link that lost its end", answers: html
            ) { (call) async throws(GatewayError) in
                try pages.charge(call)
                return try await pages.bare(call, .unknown, .notFound)
            },
            Route(
                "showCashier", .get, "/pay/s/{session}", .anyone, nil, "The page of a session", answers: html,
                handle: show),
            Route(
                "actInCashier", .post, "/pay/s/{session}", .anyone, nil, "A form of the page",
                body: .other("The page's form."), bodyLimit: Self.formLimit, answers: html, idempotency: .ignored,
                handle: act),
            Route(
                "readCashierCode", .get, "/pay/s/{session}/qr.svg", .anyone, nil, "The session's address as a code",
                answers: .other("image/svg+xml", "An image."), handle: addressCode),
            Route(
                "readCashierPicture", .get, "/pay/s/{session}/qr.png", .anyone, nil, "The payment's code as a picture",
                answers: .other("image/png", "An image."), handle: picture),
            Route(
                "returnFromWeChat", .get, "/pay/s/{session}/wechat", .anyone, nil,
                "The way back from WeChat's authorisation", answers: html, handle: returnFromWeChat),
        ].map { route in
            var route = route
            route.refusalPage = { error, languages, requestID in
                pages.refusal(error, languages: languages, requestID: requestID)
            }
            return route
        }
    }

    private func enter(_ call: Call) async throws(GatewayError) -> Answer {
        try await pages.enter(call, .checkout) { (call, state, status) async throws(GatewayError) in
            try await pages.bare(call, state, status)
        }
    }

    private func show(_ call: Call) async throws(GatewayError) -> Answer {
        try pages.charge(call)
        switch try await pages.visit(call, .checkout) {
        case .elsewhere: return try await pages.bare(call, .elsewhere, .ok)
        case .expired: return try await pages.bare(call, .expired, .gone)
        case .own(let caller, let token):
            if let address = try await authorisation(call, caller) { return CashierPages.redirect(address) }
            return try await pages.page(call, caller, token: token)
        }
    }

    // MARK: WeChat's authorisation

    /// Returns the address of WeChat's to which a payer inside of it is sent once; nil where the page is shown.
    private func authorisation(
        _ call: Call, _ caller: AuthenticatedSession
    ) async throws(GatewayError) -> String? {
        let agent = call.request.headerFields[.userAgent] ?? ""
        guard call.request.method == .get, PayerBrowser(agent: agent).paysByWeChat else { return nil }
        return try await gateway.payerAuthorizations.begin(caller)
    }

    /// Takes WeChat's answer, whose query has a state and, where WeChat names the payer, a code.
    private func returnFromWeChat(_ call: Call) async throws(GatewayError) -> Answer {
        guard call.request.method == .get, case .own(let caller, let token) = try await pages.visit(call, .checkout)
        else { return try await show(call) }
        try pages.charge(call)
        do throws(GatewayError) {
            try await gateway.payerAuthorizations.complete(
                caller, state: call.query["state"] ?? "", code: call.query["code"])
        } catch {
            guard error == .forbidden else { throw error }
            let notice = CashierPages.Notice(alert: .authorisation, status: .forbidden)
            return try await pages.page(call, caller, token: token, notice: notice)
        }
        return CashierPages.redirect(SessionDoor.path(caller.id.rawValue, .checkout))
    }

    private func act(_ call: Call) async throws(GatewayError) -> Answer {
        try pages.charge(call)
        guard case .own(let caller, let token) = try await pages.visit(call, .checkout) else {
            return try await show(call)
        }
        let form = Dictionary(FormDecoder.decode(String(decoding: call.body, as: UTF8.self))) { first, _ in first }
        guard pages.door.accepts(call, form, caller.id, token) else {
            return try await pages.page(
                call, caller, token: token, notice: CashierPages.Notice(alert: .forbidden, status: .forbidden))
        }
        let forms = CashierForms(
            gateway: gateway, call: call, caller: caller, form: form,
            locale: pages.locale(caller.session.locale, call.languages))
        if try await forms.lacksAgreement() {
            return try await pages.page(call, caller, token: token, notice: CashierPages.Notice(alert: .terms))
        }
        do throws(GatewayError) {
            return CashierPages.redirect(SessionDoor.path(caller.id.rawValue, .checkout) + (try await forms.run()))
        } catch {
            guard let alert = PageAlert(error) else { throw error }
            return try await pages.page(call, caller, token: token, notice: CashierPages.Notice(alert: alert))
        }
    }

    // MARK: Codes

    private func addressCode(_ call: Call) async throws(GatewayError) -> Answer {
        guard case .own(let caller, let token) = try await pages.visit(call, .checkout) else { throw .notFound }
        let session = try await gateway.sessionReading.find(caller)
        guard gateway.time.real.now < caller.session.expiresAt, session.order?.status.isUnpaid ?? true else {
            throw .contractGone
        }
        guard let image = QRImage.svg("\(gateway.settings.publicURL)/pay/\(token)") else { throw .internalError }
        return Self.image("image/svg+xml", Data(image.utf8))
    }

    private func picture(_ call: Call) async throws(GatewayError) -> Answer {
        guard case .own(let caller, _) = try await pages.visit(call, .checkout) else { throw .notFound }
        let session = try await gateway.sessionReading.find(caller)
        guard case .qr(let text)? = session.contract?.instruction else { throw .contractGone }
        guard let image = QRImage.png(text) else { throw .internalError }
        return Self.image("image/png", image)
    }

    private static func image(_ type: String, _ content: Data) -> Answer {
        .raw(
            status: .ok, contentType: type, body: content,
            headers: [
                HTTPField(name: .cacheControl, value: "no-store"),
                HTTPField(name: .contentSecurityPolicy, value: "default-src 'none'"),
                HTTPField(name: .referrerPolicy, value: "no-referrer"),
            ])
    }
}

extension Order.Status {
    /// True before the order was paid.
    fileprivate var isUnpaid: Bool { self == .open || self == .closed }
}
