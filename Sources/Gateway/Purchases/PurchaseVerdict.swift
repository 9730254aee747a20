package import Domain
import ProviderKit

/// The worth of a purchase to its user now, in the words of OpenIAP's clients.
package struct PurchaseVerdict: Sendable, Equatable {
    package enum State: String, Sendable, CaseIterable {
        /// The grant is active or in its grace period.
        case entitled = "ENTITLED"
        /// A consumable whose units were credited, now or before.
        case readyToConsume = "READY_TO_CONSUME"
        case expired = "EXPIRED"
        /// The store took it back.
        case canceled = "CANCELED"
        /// The store did not sign it.
        case inauthentic = "INAUTHENTIC"
        /// The purchase is another app's or environment's, has not begun, or is suspended.
        case unknown = "UNKNOWN"
    }

    package let state: State
    /// nil where nothing of the purchase is known.
    package let productID: String?
    package let environment: Environment?

    package var isValid: Bool { state == .entitled || state == .readyToConsume }

    init(_ state: State, of purchase: StorePurchase? = nil) {
        self.state = state
        productID = purchase?.productID
        environment = purchase?.environment
    }
}

extension Purchases {
    /// Attaches one signed transaction to its user, and says what it is worth.
    ///
    /// - Throws: `unknownProduct` (the purchase is stored), `purchaseBelongsToAnotherUser`, `noProviderAvailable`.
    package func verdict(
        on transaction: String, user: ExternalUserID, context: CallContext
    ) async throws(GatewayError) -> PurchaseVerdict {
        let claim: PurchaseClaim
        do throws(GatewayError) { claim = try await evidence.verify(.signedTransaction(transaction)) } catch {
            guard case .invalidTransaction(let reason) = error else { throw error }
            return PurchaseVerdict([.wrongApp, .wrongEnvironment].contains(reason) ? .unknown : .inauthentic)
        }
        do throws(GatewayError) {
            let attached = try await attach(claim, user: user, context: context)
            return PurchaseVerdict(attached.verdict, of: claim.purchase)
        } catch {
            guard error == .purchaseRevoked else { throw error }
            return PurchaseVerdict(.canceled, of: claim.purchase)
        }
    }
}

extension AttachedPurchase {
    fileprivate var verdict: PurchaseVerdict.State {
        switch Entitlement.Status(rawValue: status) {
        case .active, .inGracePeriod: .entitled
        case .inBillingRetry, .expired, .upgraded: .expired
        case .revoked: .canceled
        case .suspended, .scheduled: .unknown
        case nil: credited.isEmpty ? .unknown : .readyToConsume
        }
    }
}
