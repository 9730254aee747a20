/// The membership that the user has now.
public struct CurrentMembership: Sendable, Equatable {
    public let tier: String
    public let sku: String?
    /// Seconds since 1970.
    public let expiresAt: Int64?
    public let isPerpetual: Bool
    public let willRenew: Bool

    init?(_ snapshot: EntitlementSnapshot, at time: Int64, tolerance: Int64) {
        guard snapshot.isActive(at: time, tolerance: tolerance), let tier = snapshot.entitlements.tier else {
            return nil
        }
        let grant = snapshot.entitlements.grants.first { $0.tier == tier && $0.isHeld }
        self.tier = tier
        sku = grant?.sku
        expiresAt = snapshot.entitlements.expiresAt
        isPerpetual = snapshot.entitlements.isPerpetual
        willRenew = grant?.willRenew ?? false
    }

    /// The tier and its end in words.
    public func text(_ language: ClientLanguage) -> String { ScreenText.membership(self, language) }
}

/// The state of ``MembershipModel``.
public struct MembershipState: Sendable, Equatable {
    public internal(set) var shop = ShopState()
    public internal(set) var selected: String?
    public internal(set) var current: CurrentMembership?

    public var isMember: Bool { current != nil }
    /// True while the pay buttons can be pressed.
    public var canPurchase: Bool { selected != nil && shop.purchase != .inProgress }
}

/// The page on which a user becomes a member and sees the membership.
@MainActor
public final class MembershipModel<Store: Storefront> {
    public private(set) var state = MembershipState() {
        didSet { if state != oldValue { changes.send(state) } }
    }
    private let shop: ShopModel<Store>
    private let changes = Changes<MembershipState>()

    public init(coordinator: PurchaseCoordinator<Store>, entitlements: EntitlementStore) {
        shop = ShopModel(coordinator: coordinator, entitlements: entitlements) { $0.tier?.isEmpty == false }
        state.shop = shop.state
        shop.changed = { [weak self] in self?.shopChanged() }
    }

    /// The present state and each further one.
    public var updates: AsyncStream<MembershipState> { changes.stream(from: state) }

    /// The queue behind the page.
    public var queue: PurchaseCoordinator<Store> { shop.coordinator }

    /// Loads the plans, once, and the membership.
    public func load() async {
        await readCurrent()
        await shop.load()
        await readCurrent()
    }

    /// Asks the server for what the user owns: when the payer comes back from elsewhere.
    public func refresh() async {
        await shop.refreshOwned()
        await readCurrent()
    }

    /// Chooses a plan by its product id.
    public func select(_ id: String) { if state.shop.items.contains(where: { $0.id == id }) { state.selected = id } }

    /// Buys the chosen plan with StoreKit.
    public func purchase() async {
        guard let selected = state.selected else { return }
        await shop.purchase(selected)
        await readCurrent()
    }

    /// Pays for the chosen plan by another contract type, such as Apple Pay.
    ///
    /// - Parameter exit: acts on the contract; false says that the payer was sent away.
    public func purchase(
        platform: ClientPlatform = .ios, accept: [ContractType], currency: String? = nil,
        exit: @Sendable (Contract) async throws -> Bool
    ) async {
        guard let item = state.shop.items.first(where: { $0.id == state.selected }) else { return }
        await shop.begin(item.id) {
            let outcome = try await shop.desk.pay(
                sku: item.sku.sku, currency: currency, platform: platform, accept: accept, exit: exit)
            return switch outcome {
            case .paid: .purchased
            case .open, .left: .pending(.payment)
            case .closed: .cancelled
            case .failed: .failed(.notPaid)
            }
        }
        await readCurrent()
    }

    public func restore() async {
        await shop.restore()
        await readCurrent()
    }

    /// Opens Apple's page of subscriptions.
    public func manage() async {
        await trying { try await shop.coordinator.storefront.showManageSubscriptions() }
    }

    /// Opens Apple's sheet for a refund of the newest purchase of a product.
    public func requestRefund(product id: String) async {
        await trying {
            let store = shop.coordinator.storefront
            guard let transaction = await store.currentEntitlements().last(where: { $0.productID == id }) else {
                throw StorefrontError.notAvailable
            }
            _ = try await store.requestRefund(transaction.id)
        }
    }

    /// Follows purchases and entitlements until the task is cancelled.
    public func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.shop.run() }
            group.addTask { for await _ in await self.shop.entitlements.snapshots() { await self.readCurrent() } }
        }
    }

    /// Takes the alert away.
    public func dismissMessage() { shop.dismissMessage() }

    private func trying(_ body: () async throws -> Void) async {
        do { try await body() } catch { shop.say(ClientFailure(error).text(shop.desk.language)) }
    }

    private func shopChanged() {
        state.shop = shop.state
        if let selected = state.selected, !state.shop.items.contains(where: { $0.id == selected }) {
            state.selected = nil
        }
    }

    private func readCurrent() async {
        let store = shop.entitlements
        let current = await store.current().flatMap {
            CurrentMembership($0, at: shop.desk.time.now(), tolerance: store.tolerance)
        }
        if state.current != current { state.current = current }
    }
}
