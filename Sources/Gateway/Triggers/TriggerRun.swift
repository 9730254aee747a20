import AppStoreBox
import Domain
import FoundationEssentials
import ProviderKit
import Store

/// A checkout that a trigger has made at an account that plays its own service.
struct TriggerSale: Sendable {
    let contract: PaymentContract
    let account: ConfiguredAccount
}

/// The run of a request to make an event happen, with the acts that it needs.
struct TriggerRun: Sendable {
    let gateway: Gateway
    let request: TriggerRequest
    let user: ExternalUserID
    let context: CallContext
    /// The number after which the event comes.
    var start: Int64

    // MARK: Sales

    /// The SKUs to try, in this order.
    ///
    /// - Throws: `skuNotFound` for a name that no SKU has.
    func skus(isManaged: Bool) async throws(GatewayError) -> [SKU] {
        if let name = request.sku {
            let named = try await gateway.catalogue.find(name)
            return isManaged && named.renewal != .managed ? [] : [named]
        }
        let all = try await gateway.catalogue.all().filter { $0.active && $0.firstPrice != nil }
        if isManaged { return all.filter { $0.kind == .subscription && $0.renewal == .managed } }
        // Passes first: a user may buy one any number of times.
        return all.filter { $0.kind == .nonRenewing }
            + all.filter { $0.kind == .consumable || $0.kind == .nonConsumable }
    }

    /// Opens a checkout of the first SKU that can be sold.
    func sell(_ skus: [SKU]) async throws -> TriggerSale {
        let accounts = gateway.registry.accounts.filter { $0.enabled && $0.canBePlayed }
            .sorted { $0.routing.priority > $1.routing.priority }
        guard !accounts.isEmpty else {
            throw TriggerRefusal(description: "no enabled account has a played service; add one of kind sandbox")
        }
        var refusal: (any Error)?
        for sku in skus {
            guard let price = sku.firstPrice else { continue }
            for account in accounts {
                var order = CheckoutRequest(
                    sku: sku.id, days: price.days,
                    platform: account.routing.platforms.first { $0 != .ios } ?? .web, currency: price.money.currency,
                    provider: account.id.rawValue)
                order.metadata = ["trigger": request.event.rawValue]
                do {
                    return TriggerSale(
                        contract: try await gateway.cashier.open(order, user: user, context: context),
                        account: account)
                } catch {
                    refusal = error
                }
            }
        }
        guard let refusal else {
            throw TriggerRefusal(
                description: request.sku.map { "the SKU \($0) has no price" }
                    ?? "no active SKU can be sold in the sandbox; make one, or name it by --sku")
        }
        throw refusal
    }

    /// Plays the payer who agrees and pays.
    func pay(_ sale: TriggerSale) async throws(GatewayError) {
        // An order of price 0 has neither.
        guard let subject = sale.contract.payment?.rawValue ?? sale.contract.renewal?.setup?.rawValue else { return }
        _ = try await gateway.payPages.act(
            kind: sale.account.manifest.kind, payment: subject, form: ["outcome": "succeed", "terms": "accepted"])
    }

    /// Announces an event of the sale's payment.
    ///
    /// - Parameter more: minor units by which the amount is another than the contract's.
    func announce(_ event: PlayedPaymentEvent, _ sale: TriggerSale, plus more: Int64 = 0) async throws {
        guard let payment = sale.contract.payment, let service = sale.account.provider as? any PaymentPlaying else {
            throw TriggerRefusal(description: "the order has no payment; name a SKU with a price by --sku")
        }
        let amount = sale.contract.amount
        try await service.announce(
            event, of: payment, amount: Money(value: amount.value + more, currency: amount.currency))
    }

    // MARK: Purchases in the box

    /// The product to buy: the named SKU's, else the first.
    func product(of box: BoxedAppStore) async throws -> String {
        let settings = box.settings
        let all = try await gateway.access.report { db in try settings.products(db) }
        var sold = request.event == .subscriptionChanged ? all.filter { $0.kind == .subscription } : all
        if let name = request.sku {
            let own = try await gateway.catalogue.find(name).literalProducts
            sold = sold.filter { own.contains($0.productID) }
        }
        guard let product = sold.first else {
            throw TriggerRefusal(
                description: request.sku.map { "the App Store in a box sells no product of the SKU \($0)" }
                    ?? "the App Store in a box sells nothing that fits")
        }
        return product.productID
    }

    var storefront: Storefront {
        get throws {
            guard let storefront = Storefront("USA") else {
                throw TriggerRefusal(description: "there is no storefront")
            }
            return storefront
        }
    }

    /// The user who has a purchase before it is transferred.
    var giver: ExternalUserID {
        get throws {
            guard let giver = ExternalUserID(user.rawValue + "_before") else {
                throw TriggerRefusal(description: "the user's id is too long")
            }
            return giver
        }
    }

    // MARK: Events

    /// Waits for an event of the user.
    ///
    /// - Parameters:
    ///   - subject: what it is about; nil for anything of the user's.
    ///   - patience: milliseconds of real time.
    func wait(
        for type: String, about subject: String?, _ patience: Int64
    ) async throws(GatewayError) -> EventSubject? {
        let (access, time, name, start) = (gateway.access, gateway.time.real, user, start)
        return try await gateway.events.waits.poll(until: time.milliseconds() + patience) {
            () async throws(GatewayError) in
            try await access.report { db in
                let user = try db.users.findID(name)
                var after = start
                while true {
                    let page = try db.events.listSubjects(after: after, limit: 200)
                    let found = page.first { event in
                        event.type == type
                            && (subject.map { event.subject == $0 } ?? (user != nil && event.user == user))
                    }
                    guard found == nil, page.count == 200, let last = page.last else { return found }
                    after = last.seq
                }
            }
        }
    }

    /// Waits for the request's event, and says what it is about.
    func found(
        sale: TriggerSale?, about subject: String?, within patience: Int64
    ) async throws(GatewayError) -> TriggeredEvent {
        var told = TriggeredEvent(request)
        let event = try await wait(for: request.event.rawValue, about: subject, patience)
        told.seq = event?.seq
        told.order_id = sale?.contract.order
        told.payment_id = sale?.contract.payment
        if let order = sale?.contract.order {
            told.subscription_id = try await gateway.orders.find(order.rawValue).subscription
        }
        guard let event, sale == nil else { return told }
        told.subscription_id = ID<Subscription>(event.subject)
        let page = try await gateway.access.report { db in
            try db.events.list(after: event.seq - 1, subject: nil, limit: 1)
        }
        struct About: Decodable { let order_id: ID<Order>? }
        told.order_id =
            page.events.first
            .flatMap { try? JSONDecoder().decode(About.self, from: Data($0.data.utf8)) }?.order_id
        return told
    }
}

extension ConfiguredAccount {
    /// True for an account whose payments wait for a payer whom it plays itself.
    fileprivate var canBePlayed: Bool {
        provider is any PaymentPlaying && provider.contractTypes != [ContractType.none]
    }
}

extension SKU {
    /// The price at which it is sold first, with the days of a pattern's option; nil where nothing has one above 0.
    fileprivate var firstPrice: (money: Money, days: Int64?)? {
        if let price = prices.first(where: { $0.value > 0 }) { return (price, nil) }
        for option in options {
            if let price = option.prices.first(where: { $0.value > 0 }) { return (price, option.days) }
        }
        return nil
    }

    /// The ids of its Apple products, with those of a pattern's options.
    fileprivate var literalProducts: Set<String> {
        Set(
            appleProducts.flatMap { entry in
                entry.isPattern ? options.map { entry.productID(days: $0.days) } : [entry.product]
            })
    }
}
