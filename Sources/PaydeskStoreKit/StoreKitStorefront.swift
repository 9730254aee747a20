#if canImport(StoreKit)
    public import Foundation
    public import PaydeskClient
    import StoreKit

    #if canImport(UIKit) && !os(watchOS) && !os(tvOS)
        public import UIKit
    #endif

    /// StoreKit 2 as the SDK's storefront.
    public actor StoreKitStorefront: Storefront {
        /// Transactions that StoreKit handed out and that are not finished, by id.
        private var open: [String: Transaction] = [:]

        #if canImport(UIKit) && !os(watchOS) && !os(tvOS)
            private let scene: @MainActor @Sendable () -> UIWindowScene?

            /// - Parameter scene: the window scene over which Apple's sheets for subscriptions and refunds are shown.
            public init(scene: @escaping @MainActor @Sendable () -> UIWindowScene?) { self.scene = scene }
        #else
            public init() {}
        #endif

        public nonisolated var canMakePayments: Bool { AppStore.canMakePayments }

        public func products(_ ids: [String]) async throws -> [StoreProduct] {
            try await converting {
                try await Product.products(for: ids).map {
                    StoreProduct(
                        id: $0.id, name: $0.displayName, description: $0.description, price: $0.price,
                        displayPrice: $0.displayPrice)
                }
            }
        }

        public func purchase(
            _ product: String, appAccountToken: UUID, quantity: Int
        ) async throws -> StorePurchase {
            try await converting {
                guard let found = try await Product.products(for: [product]).first else {
                    throw StorefrontError.notAvailable
                }
                var options: Set<Product.PurchaseOption> = [.appAccountToken(appAccountToken)]
                if quantity > 1 { options.insert(.quantity(quantity)) }
                switch try await found.purchase(options: options) {
                case .success(let result): return .purchased(take(result))
                case .userCancelled: return .cancelled
                case .pending: return .pending
                @unknown default: return .pending
                }
            }
        }

        public func unfinished() async -> [StoreTransaction] {
            var all: [StoreTransaction] = []
            for await result in Transaction.unfinished { all.append(take(result)) }
            return all
        }

        public nonisolated func updates() -> AsyncStream<StoreTransaction> {
            AsyncStream { continuation in
                let task = Task {
                    for await result in Transaction.updates { continuation.yield(await self.take(result)) }
                    continuation.finish()
                }
                continuation.onTermination = { _ in task.cancel() }
            }
        }

        public func currentEntitlements() async -> [StoreTransaction] {
            var all: [StoreTransaction] = []
            for await result in Transaction.currentEntitlements { all.append(Self.converted(result)) }
            return all
        }

        public func finish(_ transaction: String) async throws {
            if open[transaction] == nil { _ = await unfinished() }
            await open.removeValue(forKey: transaction)?.finish()
        }

        public func sync() async throws { try await converting { try await AppStore.sync() } }

        public func showManageSubscriptions() async throws {
            #if canImport(UIKit) && !os(watchOS) && !os(tvOS)
                guard let scene = await scene() else { throw StorefrontError.notAvailable }
                try await converting { try await AppStore.showManageSubscriptions(in: scene) }
            #else
                throw StorefrontError.notAvailable
            #endif
        }

        public func requestRefund(_ transaction: String) async throws -> Bool {
            #if canImport(UIKit) && !os(watchOS) && !os(tvOS)
                guard let scene = await scene(), let id = UInt64(transaction) else {
                    throw StorefrontError.notAvailable
                }
                return try await converting {
                    try await Transaction.beginRefundRequest(for: id, in: scene) == .success
                }
            #else
                throw StorefrontError.notAvailable
            #endif
        }

        private func take(_ result: VerificationResult<Transaction>) -> StoreTransaction {
            let transaction = Self.converted(result)
            open[transaction.id] = result.unsafePayloadValue
            return transaction
        }

        /// The server verifies the signature again, so that a device's own doubt decides nothing.
        private static func converted(_ result: VerificationResult<Transaction>) -> StoreTransaction {
            let payload = result.unsafePayloadValue
            return StoreTransaction(
                id: String(payload.id), productID: payload.productID, jws: result.jwsRepresentation,
                appAccountToken: payload.appAccountToken)
        }

        private func converting<Value>(_ body: () async throws -> Value) async throws -> Value {
            do { return try await body() } catch { throw Self.converted(error) }
        }

        private static func converted(_ error: any Error) -> StorefrontError {
            switch error {
            case let error as StorefrontError: error
            case StoreKitError.userCancelled: .cancelled
            case StoreKitError.networkError: .noNetwork
            case StoreKitError.notAvailableInStorefront: .notAvailable
            case StoreKitError.notEntitled: .notAllowed
            case Product.PurchaseError.purchaseNotAllowed: .notAllowed
            case Product.PurchaseError.productUnavailable: .notAvailable
            case Product.PurchaseError.invalidQuantity: .invalidPayment
            default: .other(error.localizedDescription)
            }
        }
    }
#endif
