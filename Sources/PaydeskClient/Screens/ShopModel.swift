/// A product that is on sale: the App Store's price with the server's SKU.
public struct ShopItem: Sendable, Equatable, Identifiable {
    public let product: StoreProduct
    public let sku: CatalogueProduct
    public internal(set) var isOwned: Bool

    public var id: String { product.id }
}

/// The state of ``ShopModel``.
public struct ShopState: Sendable, Equatable {
    /// False where purchases are not allowed on this device: hide the shop.
    public internal(set) var canMakePayments = true
    public internal(set) var isLoading = false
    public internal(set) var isLoaded = false
    /// The products, the cheapest first.
    public internal(set) var items: [ShopItem] = []
    public internal(set) var purchase = PurchaseState.notStarted
    /// The product that the purchase is about.
    public internal(set) var purchasing: String?
    public internal(set) var isRestoring = false
    /// Words for an alert.
    public internal(set) var message: String?
}

/// A shop of App Store products: loading, buying, restoring, and what is owned.
@MainActor
public final class ShopModel<Store: Storefront> {
    public private(set) var state = ShopState() {
        didSet {
            if state != oldValue {
                changes.send(state)
                changed?()
            }
        }
    }
    var changed: (() -> Void)?
    let coordinator: PurchaseCoordinator<Store>
    let entitlements: EntitlementStore
    private let isOnSale: @Sendable (CatalogueProduct) -> Bool
    private let changes = Changes<ShopState>()

    var desk: Paydesk { coordinator.desk }

    /// - Parameter isOnSale: chooses the SKUs of this shop.
    public init(
        coordinator: PurchaseCoordinator<Store>, entitlements: EntitlementStore,
        isOnSale: @escaping @Sendable (CatalogueProduct) -> Bool = { $0.kind == "non_consumable" }
    ) {
        self.coordinator = coordinator
        self.entitlements = entitlements
        self.isOnSale = isOnSale
        state.canMakePayments = coordinator.storefront.canMakePayments
    }

    /// The present state and each further one.
    public var updates: AsyncStream<ShopState> { changes.stream(from: state) }

    /// Loads the server's SKUs and the App Store's prices, once; after a failure it can be called again.
    public func load() async {
        guard !state.isLoading, !state.isLoaded else { return }
        state.isLoading = true
        defer { state.isLoading = false }
        do {
            let skus = try await desk.products().filter(isOnSale)
            var skuOfProduct: [String: CatalogueProduct] = [:]
            for sku in skus { for id in sku.storeProductIDs { skuOfProduct[id] = sku } }
            let products = try await coordinator.storefront.products(skuOfProduct.keys.sorted())
            let items = products.compactMap { product in
                skuOfProduct[product.id].map { ShopItem(product: product, sku: $0, isOwned: $0.isOwned) }
            }
            guard !items.isEmpty || skus.isEmpty else { throw ClientFailure.noProducts }
            state.items = items.sorted { ($0.product.price, $0.id) < ($1.product.price, $1.id) }
            state.isLoaded = true
            await readOwned()
        } catch { say(ClientFailure(error).text(desk.language)) }
    }

    /// Buys a product, unless a purchase runs or the product is owned for ever already.
    public func purchase(_ id: String) async {
        guard state.purchase != .inProgress, let item = state.items.first(where: { $0.id == id }) else { return }
        guard !item.isOwned || item.sku.kind != "non_consumable" else {
            return say(ClientFailure.alreadyOwned.text(desk.language))
        }
        await begin(id) {
            switch try await self.coordinator.purchase(id) {
            case .purchased: .purchased
            case .kept: .pending(.confirmation)
            case .pending: .pending(.approval)
            case .cancelled: .cancelled
            case .refused(let refusal): throw PaydeskError.refused(refusal)
            }
        }
    }

    /// Runs a purchase and shows its end.
    func begin(_ id: String, _ body: () async throws -> PurchaseState) async {
        guard state.purchase != .inProgress else { return }
        (state.purchase, state.purchasing) = (.inProgress, id)
        do {
            state.purchase = try await body()
            if state.purchase == .purchased { await refreshOwned() }
        } catch StorefrontError.cancelled {
            state.purchase = .cancelled
        } catch {
            let failure = ClientFailure(error)
            state.purchase = .failed(failure)
            say(failure.text(desk.language))
        }
    }

    /// Restores the purchases of another device or an earlier installation.
    public func restore() async {
        guard !state.isRestoring else { return }
        state.isRestoring = true
        defer { state.isRestoring = false }
        do {
            let restored = try await coordinator.restore().restored
            await refreshOwned()
            say(ScreenText.restored(restored, desk.language))
        } catch { say(ClientFailure(error).text(desk.language)) }
    }

    /// Follows purchases that end later and entitlements that change, until the task is cancelled.
    public func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await event in await self.coordinator.events() { await self.take(event) } }
            group.addTask { for await _ in await self.entitlements.snapshots() { await self.readOwned() } }
        }
    }

    /// Takes the alert away.
    public func dismissMessage() { state.message = nil }

    func refreshOwned() async {
        _ = try? await entitlements.refresh()
        await readOwned()
    }

    func say(_ words: String) { state.message = words }

    private func take(_ event: PurchaseEvent) async {
        guard case .stored(let record, _) = event else { return }
        if case .pending = state.purchase, state.purchasing == record.productID { state.purchase = .purchased }
        await refreshOwned()
    }

    private func readOwned() async {
        guard await entitlements.current() != nil else { return }
        for item in state.items {
            let isOwned = await entitlements.owns(item.sku.sku)
            guard let index = state.items.firstIndex(where: { $0.id == item.id }) else { continue }
            // A payment elsewhere arrives so.
            if isOwned, !item.isOwned, item.id == state.purchasing, case .pending = state.purchase {
                state.purchase = .purchased
            }
            state.items[index].isOwned = isOwned
        }
    }
}
