import AppleTrust
public import Domain
public import ProviderKit

extension AppleIAPProvider: ReceiptReading {
    /// So long new calls are begun while a client waits, and in a job; in milliseconds.
    private static let hurriedPatience: Int64 = 5_000
    private static let patience: Int64 = 120_000

    public func read(receipt text: String) throws(PurchaseRefusal) -> StoreReceipt {
        do throws(AppleRefusal) {
            return StoreReceipt(try trust.verifier.receipt(text))
        } catch {
            throw PurchaseRefusal(.init(error.reason), detail: error.detail)
        }
    }

    public var takesProductionReceipts: Bool { trust.verifier.accepts(.production) }

    public func apps(withSecret secret: String) -> Set<String> { sharedSecrets.apps(with: secret) }

    public func canConfirm(_ receipt: StoreReceipt) -> Bool {
        api(of: receipt) != nil || verifyReceipt != nil
    }

    public func confirm(
        _ receipt: StoreReceipt, text: String, unsigned: [StorePurchase], isHurried: Bool
    ) async throws(ReceiptConfirmationError) -> StoreAnswer {
        guard let api = api(of: receipt) else {
            guard let verifyReceipt else { throw .store(.refused("nobody can be asked")) }
            return try await verifyReceipt.ask(about: receipt, text: text, secret: sharedSecrets[receipt.bundleID])
        }
        do throws(AppStoreServerError) {
            let patience = isHurried ? Self.hurriedPatience : Self.patience
            return try await confirm(
                receipt, unsigned: unsigned, by: isHurried ? api.hurried : api, until: time.milliseconds() + patience)
        } catch {
            throw .store(StoreSyncError(error))
        }
    }

    public func transaction(
        _ id: String, besides receipt: StoreReceipt
    ) async throws(ReceiptConfirmationError) -> StoreAnswer.Item? {
        guard let api = api(of: receipt) else { return nil }
        do throws(AppStoreServerError) {
            let found = try await api.hurried.transaction(id, in: .only(AppleEnvironment(receipt.environment)))
            return statement(found.value, nil, of: receipt.bundleID, status: nil)
        } catch {
            throw .store(StoreSyncError(error))
        }
    }

    /// Where every subscription stands, what was refunded, and what else nothing but the receipt is known of; older periods
    /// come with the next check of their subscription.
    private func confirm(
        _ receipt: StoreReceipt, unsigned: [StorePurchase], by api: AppStoreServerAPI, until deadline: Int64
    ) async throws(AppStoreServerError) -> StoreAnswer {
        let place = AppStorePlace.only(AppleEnvironment(receipt.environment))
        var (items, refused, isWhole): ([StoreAnswer.Item], Int, Bool) = ([], 0, true)
        func add(_ item: StoreAnswer.Item?) {
            if let item { items.append(item) } else { refused += 1 }
        }
        func isInTime() -> Bool {
            isWhole = isWhole && time.milliseconds() < deadline
            return isWhole
        }
        var open = receipt.entries.map(\.purchase).filter { $0.kind == .autoRenewable }
        while let next = open.last, isInTime() {
            let found = try await api.subscriptions(of: next.transactionID, in: place).value
            for subscription in found {
                let status = AppleSubscriptionStatus(rawValue: subscription.status.rawValue)
                add(
                    statement(
                        subscription.transaction, subscription.renewalInfo, of: receipt.bundleID, status: status))
            }
            let answered = Set(found.map(\.originalTransactionID)).union([next.originalTransactionID])
            open.removeAll { answered.contains($0.originalTransactionID) }
        }
        var isUnknown = false
        for purchase in unsigned where purchase.kind != .autoRenewable && isInTime() {
            do throws(AppStoreServerError) {
                let found = try await api.transaction(purchase.transactionID, in: place).value
                add(statement(found, nil, of: receipt.bundleID, status: nil))
            } catch .unknownTransactionYet {
                // What it does know counts all the same.
                isUnknown = true
            }
        }
        if isUnknown && items.isEmpty { throw .unknownTransactionYet }
        if let any = receipt.entries.last?.purchase {
            var pages = api.refunds(of: any.transactionID, in: place).makeAsyncIterator()
            while isInTime(), let page = try await pages.next(isolation: nil) {
                for text in page.items { add(statement(text, nil, of: receipt.bundleID, status: nil)) }
            }
        }
        return StoreAnswer(items: items, refused: refused, cursor: nil, isWhole: isWhole && !isUnknown && refused == 0)
    }

    private func api(of receipt: StoreReceipt) -> AppStoreServerAPI? {
        serverAPIs.first {
            $0.bundleID == receipt.bundleID && $0.environments.contains(AppleEnvironment(receipt.environment))
        }
    }
}

extension StoreReceipt {
    fileprivate init(_ receipt: VerifiedReceipt) {
        let digest = ReceiptDigest(sha256: receipt.contentDigest)
        var app = App()
        app.type = receipt.type
        app.itemID = receipt.appItemID
        app.downloadID = receipt.downloadID
        app.versionExternalID = receipt.versionExternalID
        app.version = receipt.applicationVersion
        app.originalVersion = receipt.originalApplicationVersion
        app.originalPurchasedAt = receipt.originalPurchaseDate
        app.expiresAt = receipt.expirationDate
        self.init(
            digest: digest, environment: .init(receipt.environment), bundleID: receipt.bundleID, app: app,
            createdAt: receipt.creationDate,
            entries: receipt.purchases.map { purchase in
                Entry(
                    purchase: StorePurchase(purchase, in: receipt, digest),
                    originalPurchasedAt: purchase.originalPurchaseDate,
                    promotionalOfferID: purchase.promotionalOfferID)
            })
    }
}

extension StorePurchase {
    fileprivate init(_ purchase: VerifiedReceiptPurchase, in receipt: VerifiedReceipt, _ digest: ReceiptDigest) {
        let isUpgraded = receipt.replaces(purchase)
        self.init(
            environment: .init(receipt.environment), bundleID: receipt.bundleID, productID: purchase.productID,
            transactionID: purchase.transactionID, originalTransactionID: purchase.originalTransactionID,
            kind: .init(purchase), purchasedAt: purchase.purchaseDate, expiresAt: purchase.expiresDate,
            signedAt: receipt.creationDate, quantity: purchase.quantity, priceMilliunits: nil, currency: nil,
            appAccountToken: nil, isRenewal: purchase.transactionID != purchase.originalTransactionID,
            isUpgraded: isUpgraded, isFamilyShared: false,
            revocation: isUpgraded
                ? nil : purchase.cancellationDate.map { Revocation(at: $0, reason: nil, percentage: nil) })
        offer = StoreOffer(
            isTrial: purchase.isTrial, isIntroductory: purchase.isIntroductory,
            promotionalOfferID: purchase.promotionalOfferID)
        webOrderLineItemID = purchase.webOrderLineItemID.map(String.init)
        self.receipt = digest
    }
}

extension VerifiedReceipt {
    /// The store's clocks are not one.
    private static let upgradeTolerance: Int64 = 60_000

    /// Whether an upgrade ended a subscription's period: a receipt cancels that as it cancels a refunded one, and only the
    /// purchase of another product at that moment tells them apart.
    fileprivate func replaces(_ purchase: VerifiedReceiptPurchase) -> Bool {
        guard let cancelled = purchase.cancellationDate, let end = purchase.expiresDate, cancelled < end else {
            return false
        }
        return purchases.contains {
            $0.originalTransactionID == purchase.originalTransactionID && $0.productID != purchase.productID
                && abs($0.purchaseDate - cancelled) <= Self.upgradeTolerance
        }
    }
}

extension StorePurchase.Kind {
    /// Only a subscription's period ends; what else it is stands in an attribute that Apple does not document.
    fileprivate init(_ purchase: VerifiedReceiptPurchase) {
        guard purchase.expiresDate == nil else {
            self = .autoRenewable
            return
        }
        switch purchase.productType {
        case .nonConsumable: self = .nonConsumable
        case .consumable: self = .consumable
        case .nonRenewing: self = .nonRenewing
        case .autoRenewable, nil: self = .unknown("")
        }
    }
}

extension StoreOffer {
    /// What a receipt says of an offer; nil where there was none.
    init?(isTrial: Bool, isIntroductory: Bool, promotionalOfferID: String?) {
        guard isTrial || isIntroductory || promotionalOfferID != nil else { return nil }
        self.init(
            type: promotionalOfferID == nil ? "introductory" : "promotional", identifier: promotionalOfferID,
            discount: isTrial ? "FREE_TRIAL" : nil, period: nil)
    }
}
