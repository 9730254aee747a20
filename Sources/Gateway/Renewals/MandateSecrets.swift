import Domain
import FoundationEssentials
import ProviderKit
import Store

/// The provider's ids of mandates in their sealed, stored form.
struct MandateSecrets: Sendable {
    let keyRing: KeyRing

    static func referencePlace(_ mandate: String) -> String { "mandates.reference/\(mandate)" }
    static func customerPlace(_ mandate: String) -> String { "mandates.customer/\(mandate)" }

    /// Makes the row of a mandate, with its ids sealed.
    func seal(
        _ mandate: ProviderMandate, as id: ID<Mandate>, of subscription: ManagedSubscription, ownsCustomer: Bool,
        at now: Timestamp
    ) throws -> MandateRecord {
        MandateRecord(
            id: id, subscription: subscription.id, account: subscription.account,
            reference: try keyRing.seal(
                Data(mandate.reference.utf8), context: Self.referencePlace(id.rawValue)),
            customer: try mandate.customer.map {
                try keyRing.seal(Data($0.utf8), context: Self.customerPlace(id.rawValue))
            },
            ownsCustomer: ownsCustomer,
            face: MandateRecord.Face(
                label: mandate.label?.stored(100), brand: mandate.brand?.stored(50), last4: mandate.last4?.stored(10),
                expMonth: mandate.expMonth, expYear: mandate.expYear),
            createdAt: now)
    }

    /// The digests of a user's id or of an instrument's fingerprint, for claims of trials.
    func digests(_ text: String) -> [Data] {
        keyRing.authenticationCodes(of: Data(text.utf8), purpose: "trial claims")
    }

    /// Opens the ids of a stored mandate, for a call to its provider.
    ///
    /// - Throws: the key ring's error where it lacks the key.
    func open(_ mandate: MandateRecord) throws -> MandateReference {
        func text(_ sealed: Data, _ place: String) throws -> String {
            String(decoding: try keyRing.open(sealed, context: place), as: UTF8.self)
        }
        return MandateReference(
            subscription: mandate.subscription,
            reference: try text(mandate.reference, Self.referencePlace(mandate.id.rawValue)),
            customer: try mandate.customer.map { try text($0, Self.customerPlace(mandate.id.rawValue)) },
            ownsCustomer: mandate.ownsCustomer)
    }
}

/// The rules and secrets of renewals that every settlement needs.
struct Billing: Sendable {
    let settings: BillingSettings
    let secrets: MandateSecrets
}
