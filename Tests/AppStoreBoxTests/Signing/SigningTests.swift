import AppleTrust
import Domain
import Foundation
import Testing

@testable import AppStoreBox

/// Everything that the box signs, judged by the verifier that judges Apple's.
struct SigningTests {
    private let authority: BoxAuthority
    private let signer: BoxSigner

    init() throws {
        authority = try AuthorityTests.authority()
        signer = try BoxSigner(authority, app: BoxRows.app)
    }

    private func verifier(_ roots: [[UInt8]]) throws -> AppleVerifier {
        try AppleVerifier(
            AppleVerifierConfiguration(
                apps: [AppleApp(bundleID: BoxRows.app.bundleID)], environments: [.sandbox], extraRoots: roots))
    }

    @Test func transactionsVerify() throws {
        let jws = try signer.transaction(BoxRows.transaction)
        let found = try verifier(authority.roots).transaction(jws)
        #expect(found.transactionID == BoxRows.transaction.transactionID)
        #expect(found.environment == .sandbox && found.bundleID == "com.example.app")
        #expect(found.purchaseDate == BoxRows.start && found.expiresDate == BoxRows.start + 1_000_000)
        #expect(found.type.known == .autoRenewableSubscription && found.ownership?.known == .purchased)
        #expect(found.price == 9_990 && found.currency == "USD" && found.signedDate == BoxRows.start + 1)
        #expect(found.offer?.identifier == "spring" && found.unreadFields == [])
        #expect(throws: AppleRefusal.self) { try verifier([]).transaction(jws) }
        #expect(throws: AppleRefusal.self) { try verifier(try AuthorityTests.authority(2).roots).transaction(jws) }
    }

    @Test func renewalInformationVerifies() throws {
        let jws = try signer.renewalInfo(BoxRows.subscription)
        let found = try verifier(authority.roots).renewalInfo(jws)
        #expect(found.willRenew == true && found.autoRenewProductID == "pro" && !found.isInBillingRetry)
        #expect(found.renewalDate == BoxRows.start + 1_000_000 && found.renewalPrice == 9_990)
        #expect(found.unreadFields == [])
        #expect(throws: AppleRefusal.self) { try verifier([]).renewalInfo(jws) }
    }

    @Test func notificationsVerifyWithWhatTheyHold() throws {
        let jws = try signer.notification(BoxRows.notification)
        let found = try verifier(authority.roots).notification(jws)
        #expect(found.id == BoxRows.notification.uuid && found.type.rawValue == "SUBSCRIBED")
        #expect(found.subtype == "INITIAL_BUY" && found.status?.rawValue == 1)
        #expect(found.transaction?.transactionID == BoxRows.transaction.transactionID)
        #expect(found.renewalInfo?.originalTransactionID == BoxRows.transaction.originalTransactionID)
        #expect(throws: AppleRefusal.self) { try verifier([]).notification(jws) }
        let test = try verifier(authority.roots).notification(try signer.notification(BoxRows.test))
        #expect(test.type.rawValue == "TEST" && test.transaction == nil)
    }

    @Test func receiptsVerify() throws {
        let receipt = try ReceiptSigner(authority, app: BoxRows.app).receipt(
            of: [BoxRows.transaction, BoxRows.coins], at: BoxRows.start + 5_000)
        let found = try verifier(authority.roots).receipt(receipt)
        #expect(found.bundleID == "com.example.app" && found.environment == .sandbox)
        #expect(found.creationDate == BoxRows.start + 5_000)
        #expect(found.purchases.map(\.productID) == ["pro", "coins"])
        #expect(found.purchases.map(\.quantity) == [1, 3])
        #expect(found.purchases.map(\.productType) == [.autoRenewable, .consumable])
        #expect(found.purchases.map(\.expiresDate) == [BoxRows.start + 1_000_000, nil])
        #expect(throws: AppleRefusal.self) { try verifier([]).receipt(receipt) }
        #expect(throws: AppleRefusal.self) { try verifier([authority.store.root]).receipt(receipt) }
    }
}

/// Rows to sign; times are milliseconds.
enum BoxRows {
    static let app = BoxApp(bundleID: "com.example.app", appAppleID: 123_456)
    static let start: Int64 = 1_760_000_100_000

    static let transaction = transaction(900_000_000_000_000_001, "pro", .subscription)
    static let coins = transaction(900_000_000_000_000_002, "coins", .consumable)

    static func transaction(
        _ id: Int64, _ product: String, _ kind: SKU.Kind, original: Int64? = nil, customer: String = "default"
    ) -> BoxTransaction {
        let isSubscription = kind == .subscription
        return BoxTransaction(
            transactionID: String(id), originalTransactionID: String(original ?? id),
            webOrderLineItemID: isSubscription ? "77" : nil, customer: customer,
            appTransactionID: "900000000000000009", productID: product, kind: kind,
            group: isSubscription ? "Pro" : nil, purchasedAt: start, originalPurchasedAt: start,
            expiresAt: isSubscription ? start + 1_000_000 : nil, quantity: kind == .consumable ? 3 : 1,
            appAccountToken: "6ba7b810-9dad-11d1-80b4-00c04fd430c8", isFamilyShared: false, reason: .purchase,
            isUpgraded: false,
            offer: isSubscription
                ? BoxOffer(type: .promotional, identifier: "spring", discount: .payUpFront, period: "P1M") : nil,
            storefront: "USA", currency: "USD", price: 9_990, revocation: nil,
            signedAt: start + id - 900_000_000_000_000_000)
    }

    static let subscription = BoxSubscription(
        originalTransactionID: transaction.originalTransactionID, customer: "default",
        appTransactionID: "900000000000000009", group: "Pro", sharedFrom: nil,
        appAccountToken: transaction.appAccountToken, storefront: "USA", originalPurchasedAt: start, startedAt: start,
        productID: "pro", nextProductID: "pro", currentTransactionID: transaction.transactionID, currency: "USD",
        renewalPrice: 9_990, priceIncrease: nil, anchor: start, periods: 1, expiresAt: start + 1_000_000,
        state: .active, willRenew: true, failsWithGrace: nil, graceEndsAt: nil, expirationIntent: nil,
        signedAt: start + 1)

    static let notification = notification(1, .subscribed, .initialBuy, transaction, subscription)
    static let test = notification(2, .test, nil, nil, nil)

    static func notification(
        _ number: Int64, _ type: BoxNotification.Kind, _ subtype: BoxNotification.Subtype?,
        _ transaction: BoxTransaction?, _ subscription: BoxSubscription?, attempts: [BoxNotification.Attempt] = []
    ) -> BoxNotification {
        BoxNotification(
            uuid: "00000000-0000-4000-8000-\(100_000_000_000 + number)", number: number, type: type, subtype: subtype,
            transaction: transaction, subscription: subscription, signedAt: start + number, dueAt: nil, copiesLeft: 0,
            isShuffled: false, attempts: attempts)
    }
}
