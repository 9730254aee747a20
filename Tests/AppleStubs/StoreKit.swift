// Declarations of StoreKit 2 that PaydeskStoreKit uses, as iOS 15 has them; bodies end the process.
// https://developer.apple.com/documentation/storekit/in-app-purchase
public import Foundation
public import UIKit

public enum AppStore {
    public static var canMakePayments: Bool { fatalError() }
    public static func sync() async throws {}
    @MainActor public static func showManageSubscriptions(in scene: UIWindowScene) async throws {}
}

public struct Product: Identifiable, Sendable {
    public struct PurchaseOption: Hashable, Sendable {
        public static func appAccountToken(_ token: UUID) -> PurchaseOption { fatalError() }
        public static func quantity(_ quantity: Int) -> PurchaseOption { fatalError() }
    }

    public enum PurchaseResult: Sendable {
        case success(VerificationResult<Transaction>)
        case userCancelled
        case pending
    }

    public enum PurchaseError: Error {
        case invalidQuantity
        case productUnavailable
        case purchaseNotAllowed
        case ineligibleForOffer
        case invalidOfferIdentifier
        case invalidOfferPrice
        case invalidOfferSignature
        case missingOfferParameters
    }

    public var id: String { fatalError() }
    public var displayName: String { fatalError() }
    public var description: String { fatalError() }
    public var price: Decimal { fatalError() }
    public var displayPrice: String { fatalError() }

    public static func products<Identifiers: Collection>(
        for identifiers: Identifiers
    ) async throws -> [Product] where Identifiers.Element == String { fatalError() }

    @MainActor public func purchase(options: Set<PurchaseOption> = []) async throws -> PurchaseResult { fatalError() }
}

public enum VerificationResult<SignedType> {
    case unverified(SignedType, VerificationError)
    case verified(SignedType)

    public enum VerificationError: Error {
        case invalidSignature
    }

    public var unsafePayloadValue: SignedType { fatalError() }
}

extension VerificationResult: Sendable where SignedType: Sendable {}

extension VerificationResult where SignedType == Transaction {
    public var jwsRepresentation: String { fatalError() }
}

public struct Transaction: Identifiable, Sendable {
    public struct Transactions: AsyncSequence, Sendable {
        public struct AsyncIterator: AsyncIteratorProtocol {
            public mutating func next() async -> VerificationResult<Transaction>? { fatalError() }
        }

        public func makeAsyncIterator() -> AsyncIterator { fatalError() }
    }

    public enum RefundRequestStatus: Sendable {
        case userCancelled
        case success
    }

    public let id: UInt64
    public let productID: String
    public let appAccountToken: UUID?

    public static var updates: Transactions { fatalError() }
    public static var unfinished: Transactions { fatalError() }
    public static var currentEntitlements: Transactions { fatalError() }

    public func finish() async {}

    @MainActor public static func beginRefundRequest(
        for transactionID: UInt64, in scene: UIWindowScene
    ) async throws -> RefundRequestStatus { fatalError() }
}

public enum StoreKitError: Error {
    case unknown
    case userCancelled
    case networkError(URLError)
    case systemError(any Error)
    case notAvailableInStorefront
    case notEntitled
}
