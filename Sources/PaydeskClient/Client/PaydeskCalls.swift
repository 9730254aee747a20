public import Foundation

// The calls of the API that an app makes.
extension Paydesk {
    /// The SKUs that are sold on a platform.
    public func products(
        platform: ClientPlatform = .ios, currency: String? = nil
    ) async throws -> [CatalogueProduct] {
        var (items, cursor): ([CatalogueProduct], String?) = ([], nil)
        repeat {
            let page: Page<CatalogueProduct> = try await call(
                "GET", "/v1/public/products",
                query: [
                    "platform": platform.rawValue, "currency": currency, "locale": language.rawValue,
                    "cursor": cursor,
                ])
            items += page.items
            cursor = page.nextCursor
        } while cursor != nil
        return items
    }

    /// Makes an order and answers how it is paid.
    ///
    /// - Parameters:
    ///   - accept: the contract types that the app can act on.
    ///   - wallet: the app id at WeChat and the payer's openid, which its types need.
    ///   - external: Apple's token of a purchase outside of the App Store, with the storefront.
    ///   - key: the idempotency key of this intention; with the same one a second call makes no second order.
    public func checkout(
        sku: String, currency: String? = nil, platform: ClientPlatform = .ios, quantity: Int64? = nil,
        days: Int64? = nil, provider: String? = nil,
        accept: [ContractType] = [.appleIAP, .stripe, .url, .qr], returnURL: URL? = nil, wallet: WeChatPayer? = nil,
        external: ExternalPurchase? = nil, key: String = UUID().uuidString
    ) async throws -> Contract {
        try await call(
            "POST", "/v1/public/checkout",
            body: [
                "sku": .text(sku), "currency": currency.map(AttributeValue.text), "platform": .text(platform.rawValue),
                "quantity": quantity.map(AttributeValue.integer), "days": days.map(AttributeValue.integer),
                "provider": provider.map(AttributeValue.text),
                "accept": .list(accept.map { .text($0.rawValue) }),
                "return_url": (returnURL?.absoluteString).map(AttributeValue.text),
                "locale": .text(language.rawValue), "app_id": (wallet?.appID).map(AttributeValue.text),
                "payer": (wallet?.openID).map { AttributeValue.object(["wechat_openid": .text($0)]) },
                "external_purchase_token": (external?.token).map(AttributeValue.text),
                "storefront": (external?.storefront).map(AttributeValue.text),
            ], key: key)
    }

    public func order(_ id: String) async throws -> ClientOrder {
        try await call("GET", "/v1/public/orders/\(id.pathSegment)")
    }

    /// Closes an open order.
    public func cancel(_ id: String) async throws -> ClientOrder {
        try await call("POST", "/v1/public/orders/\(id.pathSegment)/cancel", body: [:], key: UUID().uuidString)
    }

    /// Asks for an order until it is decided, at most until the contract's end.
    public func waitForOrder(of contract: Contract) async throws -> CheckoutOutcome {
        while true {
            let order = try await order(contract.orderID)
            if order.isPaid { return .paid(order) }
            if order.status == "closed" { return .closed(order) }
            if order.nextAction == .retry { return .failed(order) }
            if let end = contract.expiresAt ?? order.expiresAt, time.now() >= end { return .open(order) }
            try await time.sleep(max(1, contract.pollAfterMilliseconds / 1_000))
        }
    }

    /// Makes an order, lets the app's one exit act on its contract, and waits for the order.
    ///
    /// - Parameter exit: acts on the contract; false says that the payer was sent away.
    public func pay(
        sku: String, currency: String? = nil, platform: ClientPlatform = .ios, accept: [ContractType],
        returnURL: URL? = nil, wallet: WeChatPayer? = nil, external: ExternalPurchase? = nil,
        exit: @Sendable (Contract) async throws -> Bool
    ) async throws -> CheckoutOutcome {
        let contract = try await checkout(
            sku: sku, currency: currency, platform: platform, accept: accept, returnURL: returnURL, wallet: wallet,
            external: external)
        guard try await exit(contract) else { return .left(orderID: contract.orderID) }
        return try await waitForOrder(of: contract)
    }

    /// The user's entitlements, as the server says them now.
    public func entitlements() async throws -> ClientEntitlements {
        try await call("GET", "/v1/public/entitlements")
    }

    /// The membership over all sources, and the token that names the user to the App Store.
    public func membership() async throws -> MembershipStatus {
        try await call("GET", "/v1/public/iap/apple/status")
    }

    /// Reads a meter.
    public func usage(_ meter: String) async throws -> MeterUsage {
        try await call("GET", "/v1/public/usage/\(meter.pathSegment)")
    }

    /// Uses an amount of a meter; beyond the limit nothing is used, and it is refused with `usageLimitReached`.
    public func consume(
        _ meter: String, amount: Int64 = 1, key: String = UUID().uuidString
    ) async throws -> MeterUsage {
        try await call(
            "POST", "/v1/public/usage/\(meter.pathSegment)/consume", body: ["amount": .integer(amount)], key: key)
    }

    /// Attaches the transactions that the App Store names now.
    ///
    /// - Parameter transactions: JWS texts; 200 of them go in one request.
    public func restore(_ transactions: [String]) async throws -> RestoredPurchases {
        var all = RestoredPurchases(restored: 0, results: [])
        for start in stride(from: 0, to: transactions.count, by: 200) {
            let part = transactions[start..<min(start + 200, transactions.count)]
            let answer: RestoredPurchases = try await call(
                "POST", "/v1/public/iap/apple/restore",
                body: ["transactions": .list(part.map(AttributeValue.text))], key: UUID().uuidString)
            all.restored += answer.restored
            all.results += answer.results.map {
                RestoredPurchases.Result(index: start + $0.index, status: $0.status, error: $0.error)
            }
        }
        return all
    }

    /// Charges a wallet's token for an order.
    ///
    /// - Parameter key: one for each token: a lost answer is asked for again with it.
    public func applePayPayment(
        order: String, paymentData: Data, transactionIdentifier: String, network: String?, displayName: String?,
        key: String
    ) async throws -> ApplePayResult {
        try await call(
            "POST", "/v1/public/apple-pay/payments",
            body: [
                "order_id": .text(order),
                "token": .object([
                    "paymentData": .text(paymentData.base64EncodedString()),
                    "transactionIdentifier": .text(transactionIdentifier),
                    "paymentMethod": .object([
                        "network": network.map(AttributeValue.text) ?? .null,
                        "displayName": displayName.map(AttributeValue.text) ?? .null,
                    ]),
                ]),
            ], key: key, patience: 25)
    }

    /// Attaches one transaction with exactly this login, once.
    ///
    /// - Throws: `foreignAnswer` where the answer does not name this transaction.
    func attach(_ jws: String, transaction: String, login: Login) async throws -> AttachedPurchase {
        let body = try JSONEncoder().encode(["signed_transaction_jws": jws])
        let request = try request(
            "POST", "/v1/public/iap/apple/transactions/attach", token: login.token, body: body)
        let reply = try await transport.send(request)
        let attached = try AnswerReader.data(AttachedPurchase.self, reply)
        guard attached.transactionID == transaction else { throw PaydeskError.foreignAnswer(status: reply.status) }
        return attached
    }
}
