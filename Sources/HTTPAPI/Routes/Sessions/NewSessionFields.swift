import Domain
import Gateway

/// A member whose type is checked only when it is read, so that faults are found in the documented order.
struct LateField<Value: Decodable & Sendable>: Decodable {
    private let result: Result<Value, any Error>

    init(from decoder: any Decoder) throws { result = Result { try Value(from: decoder) } }

    /// - Throws: `invalidRequest` naming the member.
    var value: Value {
        get throws(GatewayError) {
            do { return try result.get() } catch { throw GatewayError(decoding: error) }
        }
    }
}

/// The body of a new session.
struct NewSessionFields: Decodable {
    let purpose: LateField<String>?
    let currency: LateField<String>?
    let platform: LateField<String>?
    let skus: LateField<[String]>?
    let quantity: LateField<Int64>?
    let days: LateField<Int64>?
    let provider: LateField<String>?
    let accept: LateField<[String]>?
    let return_url: LateField<String>?
    let cancel_url: LateField<String>?
    let expires_in: LateField<Int64>?
    let locale: LateField<String>?
    let metadata: LateField<[String: String]>?
    let external_purchase_token: LateField<String>?
    let storefront: LateField<String>?

    /// Checks the fields in the order of `docs/api.md` section 13.
    ///
    /// - Throws: `invalidRequest`, `skuNotFound`.
    func request(_ gateway: Gateway) async throws(GatewayError) -> SessionRequest {
        guard let word = try purpose?.value else { throw .invalidRequest(field: "purpose", reason: "is missing") }
        guard let purpose = Session.Purpose(rawValue: word) else {
            throw .invalidRequest(field: "purpose", reason: .words(Session.Purpose.allCases.map(\.rawValue)))
        }
        let rules = gateway.sessionRules
        var sale = SessionSale()
        if purpose == .portal {
            try refuseSale()
            sale.returnURL = try return_url?.value
            try rules.check(sale.returnURL, "return_url")
        } else {
            sale = try await checkedSale(gateway, rules)
        }
        let lifetime = try expires_in?.value
        if let lifetime, !Session.lifetimes.contains(lifetime) {
            throw .invalidRequest(field: "expires_in", reason: "must be 60 to 86400")
        }
        let language = try locale?.value
        if let language, !Session.locales.contains(language) {
            throw .invalidRequest(field: "locale", reason: .words(Session.locales))
        }
        var external: ExternalClaim?
        if purpose == .checkout { external = try readLast(into: &sale, gateway) }
        var request = SessionRequest(purpose: purpose, sale: sale, locale: language, lifetime: lifetime)
        request.external = external
        return request
    }

    /// Refuses the fields that a portal does not take.
    private func refuseSale() throws(GatewayError) {
        let given: [(String, Bool)] = [
            ("currency", currency != nil), ("platform", platform != nil), ("skus", skus != nil),
            ("quantity", quantity != nil), ("days", days != nil), ("provider", provider != nil),
            ("accept", accept != nil), ("cancel_url", cancel_url != nil), ("metadata", metadata != nil),
            ("external_purchase_token", external_purchase_token != nil), ("storefront", storefront != nil),
        ]
        guard let field = given.first(where: \.1)?.0 else { return }
        throw .invalidRequest(field: field, reason: "is not for a portal")
    }

    /// Reads the fields up to `cancel_url`.
    private func checkedSale(
        _ gateway: Gateway, _ rules: SessionRules
    ) async throws(GatewayError) -> SessionSale {
        var sale = SessionSale()
        // A currency is wrong also where a SKU has no price in it, so the SKUs are read first.
        let named = (try? skus?.value) ?? []
        let found = try await rules.skus(named)
        let asked = try currency.map { field throws(GatewayError) in try CheckoutFields.currency(try field.value) }
        let unit = try gateway.cashier.currency(asked)
        try rules.check(unit, found)
        sale.currency = unit
        if let platform { sale.platform = try CheckoutFields.platform(try platform.value) }
        sale.skus = try rules.codes(try skus?.value ?? [], found)
        sale.quantity = try quantity?.value ?? 1
        sale.days = try days?.value
        try rules.check(quantity: sale.quantity, days: sale.days, currency: unit, sale.skus.compactMap { found[$0] })
        sale.provider = try provider?.value
        try rules.check(provider: sale.provider)
        sale.accept = try Self.accept(try accept?.value)
        sale.returnURL = try return_url?.value
        try rules.check(sale.returnURL, "return_url")
        sale.cancelURL = try cancel_url?.value
        try rules.check(sale.cancelURL, "cancel_url")
        return sale
    }

    private static func accept(_ types: [String]?) throws(GatewayError) -> Set<ContractType> {
        let known = ContractType.known
        guard let types else { return SessionSale.usualAccept }
        let accepted = types.compactMap { type in known.first { $0.rawValue == type } }
        guard !types.isEmpty, accepted.count == types.count else {
            throw .invalidRequest(field: "accept", reason: .words(known.map(\.rawValue), isList: true))
        }
        return Set(accepted)
    }

    /// Reads the fields after `locale`.
    private func readLast(into sale: inout SessionSale, _ gateway: Gateway) throws(GatewayError) -> ExternalClaim? {
        if let metadata {
            do throws(GatewayError) { sale.metadata = try metadata.value } catch {
                guard case .invalidRequest(_, let reason) = error else { throw error }
                throw .invalidRequest(field: "metadata", reason: reason)
            }
            try CheckoutFields.check(sale.metadata)
        }
        let token = try external_purchase_token?.value
        sale.storefront = try storefront?.value
        return try gateway.externalPurchases.claim(token, storefront: sale.storefront)
    }
}

/// The body of a session that a partner or an admin makes: the user and a session.
struct UserSessionFields: Decodable {
    private let user_id: LateField<String>?
    let session: NewSessionFields

    private enum CodingKeys: CodingKey { case user_id }

    init(from decoder: any Decoder) throws {
        user_id = try decoder.container(keyedBy: CodingKeys.self)
            .decodeIfPresent(LateField<String>.self, forKey: .user_id)
        session = try NewSessionFields(from: decoder)
    }

    /// - Throws: `invalidRequest` naming `user_id`.
    var user: ExternalUserID {
        get throws(GatewayError) {
            guard let name = try user_id?.value else { throw .invalidRequest(field: "user_id", reason: "is missing") }
            return try UserName.parse(name)
        }
    }
}
