package import Domain
import ProviderKit
import Store

/// The page on which a payer replaces a payment method, or pays a renewal that was refused.
package struct SubscriptionCard: Encodable, Sendable {
    package enum State: String, Encodable, Sendable {
        /// A method is to be chosen.
        case methods
        /// A contract waits for the payer.
        case open
        /// An outcome is not known yet.
        case checking
        /// The payer's attempt on this page has succeeded.
        case paid
    }

    package let state: State
    /// False where the subscription has ended, so that nothing can be opened.
    package let isRunning: Bool
    /// The open order of the renewal, or the one that was paid on this page; nil for a payment method alone.
    @Nullable package private(set) var order_id: ID<Order>?
    @Nullable package private(set) var amount: Money?
    @Nullable package private(set) var contract: PaymentContract?
    /// `failed` or `cancelled`: the end of the payer's last attempt on this page.
    @Nullable package private(set) var failed: String?
    @Nullable package private(set) var failure: PaymentFailure?
    let methods: [PaymentMethodView]

    init(
        _ state: State, isRunning: Bool, order: Order?, contract: PaymentContract? = nil, failed: String? = nil,
        failure: PaymentFailure? = nil, methods: [PaymentMethodView]
    ) {
        self.state = state
        self.isRunning = isRunning
        order_id = order?.id
        amount = order?.charged ?? order?.amount
        self.contract = contract
        self.failed = failed
        self.failure = failure
        self.methods = methods
    }

    package func speaking(_ languages: [String]) -> SubscriptionCard {
        var card = self
        card.failure = failure?.speaking(languages)
        return card
    }
}

/// A page that shows a ``SubscriptionCard``.
package struct SubscriptionCardPage: Sendable {
    /// The page's own address, by which its attempts are told from those of an app.
    let address: String
    /// True where the payer asks for the choice of methods.
    let isChoosing: Bool
    /// True where the payer comes back from a card's page.
    let hasReturned: Bool

    package init(address: String, isChoosing: Bool = false, hasReturned: Bool = false) {
        self.address = address
        self.isChoosing = isChoosing
        self.hasReturned = hasReturned
    }
}

// The portal's page of a payment method.
extension SubscriptionActs {
    /// Reads the state of a subscription's payment method, or of its open renewal, without any call to a provider.
    ///
    /// - Throws: `notFound`, `providerRejected` for a store's subscription.
    package func card(
        _ id: String, on page: SubscriptionCardPage, by actor: SubscriptionActor
    ) async throws(GatewayError) -> SubscriptionCard {
        let found = try await read(id, by: actor)
        let facts = try await settlements.store.read { db in try CardFacts(found, in: db) }
        let maker = CardMaker(
            found: found, facts: facts, page: page, methods: methods(of: found.subscription),
            contracts: setups.contracts)
        return try maker.card()
    }

    /// Opens the payment of an open renewal, else the set-up of another payment method.
    package func openCard(
        _ id: String, with type: ContractType, from page: SubscriptionCardPage, by actor: SubscriptionActor,
        _ context: CallContext, payerAddress: IPAddress?
    ) async throws(GatewayError) {
        var request = RetryRequest(
            platform: .web, currency: nil, provider: nil, accept: [type], returnURL: page.address,
            payerAddress: payerAddress)
        request.page = page.address
        let found = try await read(id, by: actor)
        if found.openOrder == nil {
            _ = try await replacePaymentMethod(id, request, by: actor, context: context)
        } else {
            _ = try await pay(id, request, by: actor, context: context)
        }
    }

    /// Asks the provider now about the set-up that is open.
    ///
    /// - Returns: false where none is open.
    package func refreshPaymentMethod(
        _ id: String, by actor: SubscriptionActor, context: CallContext
    ) async throws(GatewayError) -> Bool {
        let found = try await read(id, by: actor)
        guard let open = try await openSetup(of: found.subscription.id) else { return false }
        guard try await setups.settle(open, cancels: false, audit: context.audit) else { throw .providerUnavailable }
        return true
    }

    /// The ways in which the subscription's own account can take a payment method.
    private func methods(of subscription: ManagedSubscription) -> [PaymentMethodView] {
        guard let account = settlements.providers.registry[subscription.account], account.manifest.mandates else {
            return []
        }
        let usable = account.provider.contractTypes.subtracting([.appleIAP, .applePay, .none])
            .subtracting(ContractType.wallets)
        return usable.sorted { $0.rawValue < $1.rawValue }.map { PaymentMethodView(account, $0) }
    }
}

extension PaymentMethodView {
    init(_ account: ConfiguredAccount, _ type: ContractType) {
        self.init(
            account: account.id.rawValue, kind: account.manifest.kind, display_name: account.manifest.displayName,
            type: type)
    }
}

/// The newest set-up of a subscription, and the payments of its open or newest order.
private struct CardFacts: Sendable {
    let order: Order?
    let payments: [PaymentRecord]
    let timeline: [TimelineEntry]
    let renewal: RecurringContract?
    let setup: OpenedSetupRecord?

    init(_ found: ManagedSubscriptionLedger.Standing, in db: any Database) throws {
        let id = found.subscription.id
        setup = try db.setups.findNewest(of: id).flatMap { try OpenedSetupRecord.load($0, from: db) }
        let newest = try found.openOrder ?? db.managedSubscriptions.orders(of: id, limit: 1).last
        guard let newest, let order = try db.orders.find(newest) else {
            (self.order, payments, timeline, renewal) = (nil, [], [], nil)
            return
        }
        self.order = order
        let attempts = try db.payments.list(of: newest).value().filter { $0.payment.original == nil }
        payments = attempts
        timeline = try db.orders.timeline(of: newest).value()
        renewal = try attempts.last.flatMap { try Contracts.renewal(of: order, madeAt: $0.payment.createdAt, in: db) }
    }
}

/// Decides what a page shows of a payment method.
private struct CardMaker {
    let found: ManagedSubscriptionLedger.Standing
    let facts: CardFacts
    let page: SubscriptionCardPage
    let methods: [PaymentMethodView]
    let contracts: Contracts

    private func make(
        _ state: SubscriptionCard.State, order: Order? = nil, contract: PaymentContract? = nil, failed: String? = nil,
        failure: PaymentFailure? = nil
    ) -> SubscriptionCard {
        SubscriptionCard(
            state, isRunning: found.subscription.state == .running, order: order, contract: contract, failed: failed,
            failure: failure, methods: methods)
    }

    func card() throws(GatewayError) -> SubscriptionCard {
        if found.openOrder != nil, let order = facts.order { return try renewal(order) }
        if let setup = facts.setup, !setup.setup.state.isFinal { return try replacement(setup) }
        return page.isChoosing ? make(.methods) : outcome()
    }

    private func renewal(_ order: Order) throws(GatewayError) -> SubscriptionCard {
        guard !found.facts.isCharging else { return make(.checking, order: order) }
        let newest = facts.payments.last { $0.mandate == nil }
        let next = NextAction(order, payments: facts.payments.map(\.payment), history: facts.timeline)
        switch next {
        // An order whose mandate had ended before has no payment.
        case .wait where !facts.payments.isEmpty: return make(.checking, order: order)
        case .pay:
            guard let newest, newest.instruction != nil, !page.isChoosing else { break }
            let contract = try contracts.contract(order, newest, renewal: facts.renewal)
            return open(contract, order: order)
        case .retry:
            let last = facts.payments.last
            guard let last, last.mandate == nil, last.payment.returnURL == page.address, !page.isChoosing else { break }
            return make(
                .methods, order: order, failed: last.payment.state.rawValue,
                failure: PaymentFailure(last.payment, history: facts.timeline))
        case .wait, .none: break
        }
        return make(.methods, order: order)
    }

    private func replacement(_ opened: OpenedSetupRecord) throws(GatewayError) -> SubscriptionCard {
        if opened.setup.state == .unknown { return make(.checking) }
        guard opened.setup.instruction != nil, !page.isChoosing else { return make(.methods) }
        return open(try contracts.contract(opened), order: nil)
    }

    private func open(_ contract: PaymentContract, order: Order?) -> SubscriptionCard {
        let isReturn = contract.instruction.type == .stripe && page.hasReturned
        return make(isReturn ? .checking : .open, order: order, contract: isReturn ? nil : contract)
    }

    /// The end of the newest attempt that this page has made; a choice where it has made none.
    private func outcome() -> SubscriptionCard {
        let setup = facts.setup?.setup
        let replaced = setup.flatMap { $0.purpose == .replace && $0.returnURL == page.address ? $0 : nil }
        let paid = facts.order.flatMap { order in
            facts.payments.first {
                $0.payment.id == order.paidBy && $0.payment.returnURL == page.address && order.origin == .renewal
            }
        }
        if let paid, paid.payment.createdAt >= replaced?.createdAt ?? paid.payment.createdAt {
            return make(.paid, order: facts.order)
        }
        guard let replaced else { return make(.methods) }
        return replaced.state == .succeeded ? make(.paid) : make(.methods, failed: replaced.state.rawValue)
    }
}
