package import Domain
import ProviderKit
import Store

/// A SKU priced for a request, with the accounts that can take the payment, best first.
struct Offer: Sendable {
    let sku: SKU
    let code: SKUCode
    let quote: Quote
    let route: Route

    /// What the order keeps, its name in the payer's language where that is known.
    func terms(in locale: String?) -> OrderTerms {
        guard let locale else { return quote.terms }
        var terms = quote.terms
        terms.name = sku.localized(for: [locale]).name
        return terms
    }
}

extension Gateway {
    /// The currency of a checkout that names none.
    ///
    /// - Throws: `invalidRequest` where there is no default.
    package func currency(_ asked: Currency?) throws(GatewayError) -> Currency {
        guard let currency = asked ?? settings.defaultCurrency else {
            throw .invalidRequest(field: "currency", reason: "is missing")
        }
        return currency
    }
}

extension Gateway {
    /// Prices a SKU and finds who can sell it.
    ///
    /// - Throws: `skuNotFound`, `invalidRequest` naming the field that does not fit the SKU.
    func offer(_ request: CheckoutRequest, user: ExternalUserID) async throws(GatewayError) -> Offer {
        guard let code = SKUCode(request.sku) else { throw .skuNotFound(request.sku) }
        let (found, overrides) = try await skuAndOverrides(code)
        guard let sku = found, sku.active else { throw .skuNotFound(request.sku) }
        let (quote, appleOnly) = try quote(sku, request)
        let need = SelectionNeed(
            sku, days: quote.days, quantity: request.quantity, amount: quote.amount, platform: request.platform,
            accepts: appleOnly ? request.accept.intersection([.appleIAP]) : request.accept, provider: request.provider,
            user: user.rawValue)
        let route = route(need, with: overrides)
        if appleOnly && route.accounts.isEmpty {
            throw .invalidRequest(field: "days", reason: Self.optionIsNeeded(of: sku))
        }
        return Offer(sku: sku, code: code, quote: quote, route: route)
    }

    /// What is sold, and what admins have changed of the accounts that may take the payment.
    func skuAndOverrides(_ code: SKUCode) async throws(GatewayError) -> (SKU?, [StoredOverride]) {
        try await read { db in
            let overrides = try db.accounts.listOverrides()
            return (try db.skus.find(code), try overrides.value())
        }
    }

    /// The price; a pattern SKU without `days` can only go to Apple, which then offers every option.
    private func quote(_ sku: SKU, _ request: CheckoutRequest) throws(GatewayError) -> (Quote, appleOnly: Bool) {
        func price(appleOffersAll: Bool) throws(QuoteFault) -> Quote {
            try sku.quote(
                quantity: request.quantity, days: request.days, currency: request.currency,
                appleOffersAll: appleOffersAll)
        }
        do throws(QuoteFault) {
            return (try price(appleOffersAll: false), false)
        } catch .days where request.days == nil && request.accept.contains(.appleIAP) {
            do throws(QuoteFault) { return (try price(appleOffersAll: true), true) } catch { throw fault(error, sku) }
        } catch {
            throw fault(error, sku)
        }
    }

    private func fault(_ fault: QuoteFault, _ sku: SKU) -> GatewayError {
        switch fault {
        case .quantity: .invalidRequest(field: "quantity", reason: "\(sku.id) is not sold in this quantity")
        case .days: .invalidRequest(field: "days", reason: Self.optionIsNeeded(of: sku))
        case .currency: .invalidRequest(field: "currency", reason: Self.otherCurrency(than: sku))
        }
    }

    private static func otherCurrency(than sku: SKU) -> LocalizedText {
        let text: LocalizedText = "\(sku.id) has no price in this currency"
        return text.with("allowed", .array(sku.currencies.map { .string($0.code) }))
    }

    private static func optionIsNeeded(of sku: SKU) -> LocalizedText {
        let text: LocalizedText = "one of this SKU's options must be named"
        return text.with("allowed", .array(sku.options.map { .integer($0.days) }))
    }
}
