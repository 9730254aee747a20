import Domain

// The bodies of POST /dev/appstore/*.

/// The largest price: a billion major units, far from the end of Int64 for ten pieces.
private let prices: ClosedRange<Int64> = 0...1_000_000_000_000

extension BoxPurchaseRequest {
    /// Reads `{"product_id", "app_account_token", "quantity", "offer", "storefront", "customer", "price"}`.
    package init(body: [UInt8]) throws(BoxError) {
        let fields = try BoxFields(
            body,
            ["product_id", "app_account_token", "quantity", "offer", "storefront", "customer", "price"])
        let code = try fields.text("storefront") ?? "USA"
        guard let storefront = Storefront(code) else {
            throw .invalidRequest(
                field: "storefront", "must be one of " + Storefront.common.map(\.code).joined(separator: ", "))
        }
        var offer: Offer?
        if let members = try fields.object("offer", ["type", "identifier", "discount_type"]) {
            do throws(BoxError) { offer = try Offer(members) } catch { throw error.within("offer") }
        }
        self.init(
            productID: try fields.requiredText("product_id"), appAccountToken: try fields.uuid("app_account_token"),
            quantity: try fields.integer("quantity", 1...10) ?? 1, offer: offer, storefront: storefront,
            customer: try fields.text("customer") ?? "default", price: try fields.integer("price", prices))
    }
}

extension BoxPurchaseRequest.Offer {
    fileprivate init(_ fields: BoxFields) throws(BoxError) {
        guard let type = try fields.word("type", BoxOffer.Kind.self) else {
            throw .invalidRequest(field: "type", "is required")
        }
        let identifier = try fields.text("identifier")
        switch type {
        case .introductory:
            guard identifier == nil else {
                throw .invalidRequest(field: "identifier", "must be null for an introductory offer")
            }
        case .promotional, .winBack:
            guard identifier != nil else {
                throw .invalidRequest(field: "identifier", "is required for this type of offer")
            }
        case .offerCode: break
        }
        self.init(
            type: type, identifier: identifier,
            discount: try fields.word("discount_type", BoxOffer.Discount.self) ?? .freeTrial)
    }
}

extension BoxSubscriptionAct {
    /// Reads the act that a path names and its body.
    ///
    /// - Throws: `notFound` for an unknown act, `invalidRequest` for its body.
    package init(name: String, body: [UInt8]) throws(BoxError) {
        func fields(_ names: String...) throws(BoxError) -> BoxFields { try BoxFields(body, names) }
        func plain(_ act: BoxSubscriptionAct) throws(BoxError) -> BoxSubscriptionAct {
            _ = try fields()
            return act
        }
        switch name {
        case "renew": self = try plain(.renew)
        case "fail_renewal":
            let grace = try fields("grace").integer("grace", 0...28) ?? 16
            guard [0, 3, 16, 28].contains(grace) else {
                throw .invalidRequest(field: "grace", "must be one of 0, 3, 16, 28")
            }
            self = .failRenewal(grace: grace)
        case "recover": self = try plain(.recover)
        case "turn_off": self = try plain(.turnOff)
        case "turn_on": self = try plain(.turnOn)
        case "upgrade": self = .upgrade(productID: try fields("product_id").requiredText("product_id"))
        case "downgrade": self = .downgrade(productID: try fields("product_id").requiredText("product_id"))
        case "price_increase": self = .priceIncrease(price: try fields("price").requiredInteger("price", prices))
        case "accept_price": self = try plain(.acceptPrice)
        case "expire": self = try plain(.expire)
        case "extend": self = .extend(days: try fields("days").requiredInteger("days", 1...90))
        case "share":
            let read = try fields("app_account_token", "customer")
            self = .share(
                appAccountToken: try read.uuid("app_account_token"), customer: try read.requiredText("customer"))
        case "unshare": self = try plain(.unshare)
        default: throw .notFound("no act of this name on a subscription")
        }
    }
}

extension BoxTransactionAct {
    /// Reads the act that a path names and its body.
    ///
    /// - Throws: `notFound` for an unknown act, `invalidRequest` for its body.
    package init(name: String, body: [UInt8]) throws(BoxError) {
        let fields = try BoxFields(body, name == "refund" ? ["percentage"] : [])
        switch name {
        case "refund": self = .refund(percentage: try fields.integer("percentage", 1...100) ?? 100)
        case "refund_declined": self = .refundDeclined
        case "refund_reversed": self = .refundReversed
        case "consumption_request": self = .consumptionRequest
        default: throw .notFound("no act of this name on a transaction")
        }
    }
}

extension BoxMeta.Delivery {
    /// Reads `{"mode", "seconds"}`; a year is the longest wait.
    package init(body: [UInt8]) throws(BoxError) {
        let fields = try BoxFields(body, ["mode", "seconds"])
        guard let mode = try fields.word("mode", Mode.self) else {
            throw .invalidRequest(field: "mode", "is required")
        }
        self.init(mode: mode, seconds: try fields.integer("seconds", 1...31_536_000) ?? 60)
    }
}

/// Apple's rate limit: the body of `POST /dev/appstore/limits`.
package struct BoxLimitRequest: Sendable, Equatable {
    /// nil: no limit.
    package let perSecond: Int64?

    /// Reads `{"per_second": n | null}`.
    package init(body: [UInt8]) throws(BoxError) {
        perSecond = try BoxFields(body, ["per_second"]).integer("per_second", 1...1_000_000)
    }
}
