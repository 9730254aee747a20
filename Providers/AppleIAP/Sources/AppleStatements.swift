import AppleTrust
import Domain
import ProviderKit

extension StorePurchase {
    init(_ transaction: VerifiedTransaction) {
        self.init(
            environment: .init(transaction.environment), bundleID: transaction.bundleID,
            productID: transaction.productID, transactionID: transaction.transactionID,
            originalTransactionID: transaction.originalTransactionID, kind: Kind(rawValue: transaction.type.rawValue),
            purchasedAt: transaction.purchaseDate, expiresAt: transaction.expiresDate, signedAt: transaction.signedDate,
            quantity: transaction.quantity, priceMilliunits: transaction.price,
            currency: transaction.currency.flatMap(Currency.init), appAccountToken: transaction.appAccountToken,
            isRenewal: transaction.reason?.known == .renewal, isUpgraded: transaction.isUpgraded,
            isFamilyShared: transaction.ownership?.known == .familyShared,
            revocation: transaction.revocationDate.map {
                Revocation(
                    at: $0, reason: transaction.revocationReason.map { Int64($0.rawValue) },
                    percentage: transaction.revocationPercentage,
                    endsSharing: transaction.revocationType?.known == .familyRevoke)
            })
        offer = transaction.offer.map(StoreOffer.init)
        commitmentEndsAt = transaction.commitment?.expiresDate
        webOrderLineItemID = .lineItem(transaction.webOrderLineItemID)
        appTransactionID = transaction.appTransactionID
        if transaction.signer == .box { box = true }
    }
}

extension String? {
    /// The id of a subscription's period; Apple writes 0 or nothing for other purchases.
    static func lineItem(_ text: String?) -> String? {
        text.flatMap { $0.isEmpty || $0 == "0" || $0.utf8.count > 255 ? nil : $0 }
    }
}

extension StoreRenewal {
    /// - Parameter status: the status beside it in a notification or an answer of the server API.
    init(_ info: VerifiedRenewalInfo, status: AppleSubscriptionStatus?) {
        self.init(
            environment: .init(info.environment), originalTransactionID: info.originalTransactionID,
            signedAt: info.signedDate)
        willRenew = info.willRenew
        nextProductID = info.autoRenewProductID
        isInBillingRetry = info.isInBillingRetry || status == .billingRetry || status == .gracePeriod
        // The status may state a grace period whose end is missing here.
        isInGracePeriod = status == .gracePeriod
        graceEndsAt = info.gracePeriodExpiresDate
        expirationIntent = info.expirationIntent.map { Int64($0.rawValue) }
        priceIncrease = info.priceIncrease.map { Int64($0.rawValue) }
        offer = info.offer.map(StoreOffer.init)
        renewsAt = info.renewalDate
        priceMilliunits = info.renewalPrice
        currency = info.currency.flatMap(Currency.init)
        commitmentEndsAt = info.commitment?.renewalDate
        appTransactionID = info.appTransactionID
    }
}

extension StoreOffer {
    fileprivate init(_ offer: AppleOffer) {
        let type =
            switch offer.type {
            case .known(.introductory): "introductory"
            case .known(.promotional): "promotional"
            case .known(.offerCode): "offer_code"
            case .known(.winBack): "win_back"
            case .unknown(let number): "\(number)"
            }
        self.init(
            type: type, identifier: offer.identifier, discount: offer.discount?.rawValue, period: offer.period)
    }
}

extension Domain.Environment {
    init(_ environment: AppleEnvironment) {
        switch environment {
        case .production: self = .production
        case .sandbox: self = .sandbox
        case .xcode: self = .xcode
        }
    }
}
