import AppleTrust
public import Domain
public import ProviderKit

extension AppleIAPProvider: ReceiptReading {
    /// The milliseconds in which new calls are begun, while a client waits and in a job.
    private static let hurriedPatience: Int64 = 5_000
    private static let patience: Int64 = 120_000

    public func read(receipt text: String) throws(PurchaseRefusal) -> StoreReceipt {
        do throws(AppleRefusal) {
            return StoreReceipt(try trust.verifier.receipt(text))
        } catch {
            throw PurchaseRefusal(error.reason, detail: error.detail)
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
        let patience = isHurried ? Self.hurriedPatience : Self.patience
        async let other = verifyReceiptAnswer(about: receipt, text: text)
        let signed: Result<StoreAnswer, ReceiptConfirmationError>
        do throws(AppStoreServerError) {
            signed = .success(
                try await confirm(
                    receipt, unsigned: unsigned, by: isHurried ? api.hurried : api,
                    until: time.milliseconds() + patience))
        } catch {
            signed = .failure(.store(StoreSyncError(error)))
        }
        guard let other = await other else { return try signed.get() }
        return try Self.merge(signed, other)
    }

    /// Queries verifyReceipt about a receipt; nil where the account does not use it.
    private func verifyReceiptAnswer(
        about receipt: StoreReceipt, text: String
    ) async -> Result<StoreAnswer, ReceiptConfirmationError>? {
        guard let verifyReceipt else { return nil }
        do throws(ReceiptConfirmationError) {
            return .success(
                try await verifyReceipt.ask(about: receipt, text: text, secret: sharedSecrets[receipt.bundleID]))
        } catch {
            return .failure(error)
        }
    }

    /// Merges two answers: the signed statements of the API count, and verifyReceipt adds purchases that these lack.
    ///
    /// - Parameter other: the answer of verifyReceipt. After a temporary failure it must be queried again. Where it
    ///   refuses a receipt that verifies, only the API's answer counts, unless the customer's account is gone (21010).
    private static func merge(
        _ signed: Result<StoreAnswer, ReceiptConfirmationError>, _ other: Result<StoreAnswer, ReceiptConfirmationError>
    ) throws(ReceiptConfirmationError) -> StoreAnswer {
        switch other {
        case .success(let other):
            guard case .success(let signed) = signed else { return other }
            let ids = Set(signed.items.compactMap { $0.statement.purchase?.transactionID })
            let renewals = Set(signed.items.compactMap { $0.statement.renewal?.originalTransactionID })
            let added = other.items.filter { item in
                item.statement.purchase.map { !ids.contains($0.transactionID) }
                    ?? item.statement.renewal.map { !renewals.contains($0.originalTransactionID) } ?? false
            }
            return StoreAnswer(
                items: signed.items + added, refused: signed.refused + other.refused, cursor: nil,
                isWhole: signed.isWhole && other.isWhole)
        case .failure(.rejected(status: 21_010)): throw .rejected(status: 21_010)
        case .failure(.store(.retryable)):
            let signed = try signed.get()
            return StoreAnswer(items: signed.items, refused: signed.refused, cursor: nil, isWhole: false)
        case .failure: return try signed.get()
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

    /// Queries the subscriptions' statuses, the refunds, and the purchases that are known only from the receipt; older
    /// periods come with the next check of their subscription.
    private func confirm(
        _ receipt: StoreReceipt, unsigned: [StorePurchase], by api: AppStoreServerAPI, until deadline: Int64
    ) async throws(AppStoreServerError) -> StoreAnswer {
        let place = AppStoreSearch.only(AppleEnvironment(receipt.environment))
        var (items, refused, isWhole): ([StoreAnswer.Item], Int, Bool) = ([], 0, true)
        func add(_ item: StoreAnswer.Item?) {
            if let item { items.append(item) } else { refused += 1 }
        }
        func isInTime() -> Bool {
            isWhole = isWhole && time.milliseconds() < deadline
            return isWhole
        }
        var open = receipt.entries.map(\.purchase).filter(\.isSubscription)
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
        for purchase in unsigned where !purchase.isSubscription && isInTime() {
            do throws(AppStoreServerError) {
                let found = try await api.transaction(purchase.transactionID, in: place).value
                add(statement(found, nil, of: receipt.bundleID, status: nil))
            } catch .unknownTransactionYet {
                // The purchases that it does know are still used.
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
                    promotionalOfferID: purchase.promotionalOfferID, cancelledAt: purchase.cancellationDate)
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
        if receipt.isFromBox { box = true }
        // All entitlements of a volume purchase end with it.
        if receipt.isVolumePurchase { receiptEndsAt = receipt.expirationDate }
    }
}

extension VerifiedReceipt {
    fileprivate var isVolumePurchase: Bool { type?.hasPrefix("ProductionVPP") == true }

    /// The tolerance between Apple's clocks in milliseconds.
    private static let upgradeTolerance: Int64 = 60_000

    /// Returns whether an upgrade ended a subscription's period: a receipt marks that like a refund, and only the
    /// purchase of another product at that moment distinguishes them.
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
    /// Only a subscription's period has an end; the kind of other purchases is in an attribute that Apple does not
    /// document.
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
    /// The offer in a receipt; nil where there was none.
    init?(isTrial: Bool, isIntroductory: Bool, promotionalOfferID: String?) {
        guard isTrial || isIntroductory || promotionalOfferID != nil else { return nil }
        self.init(
            type: promotionalOfferID == nil ? "introductory" : "promotional", identifier: promotionalOfferID,
            discount: isTrial ? "FREE_TRIAL" : nil, period: nil)
    }
}
