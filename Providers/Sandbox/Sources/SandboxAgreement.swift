import Domain
import FoundationEssentials
import ProviderKit

/// The mandates and charges of one subscription at the simulated service, an entry of the account's book.
struct SandboxAgreement: Codable, Sendable, Equatable {
    /// The outcome of later charges, as the payer's bank is played.
    enum Renewals: String, Codable, Sendable, CaseIterable {
        case succeed, soft, hard, pending
        case actionRequired = "action_required"
        /// The charge takes effect, and its reply is lost.
        case lost
        /// The charge has no effect, and its reply is lost.
        case neverArrived = "never_arrived"
    }

    struct Mandate: Codable, Sendable, Equatable {
        enum State: String, Codable, Sendable {
            case active, revoked, ended
        }

        let reference: String
        let instrument: String?
        var state: State
    }

    struct Charge: Codable, Sendable, Equatable {
        let payment: ID<Payment>
        let order: ID<Order>
        let period: Int64
        let amount: Money
        /// A word of ``Renewals``, or `succeeded`.
        let outcome: String
        let at: Timestamp

        private enum CodingKeys: String, CodingKey {
            case payment = "payment_id"
            case order = "order_id"
            case period = "period_index"
            case amount, outcome, at
        }
    }

    /// The number of charges that fit into an entry's 64 KiB.
    static let chargeLimit = 250
    /// The number of mandates that are kept.
    static let mandateLimit = 50

    var renewals = Renewals.succeed
    var mandates: [Mandate] = []
    /// The newest, oldest first.
    var charges: [Charge] = []

    /// Adds a mandate, unless it is there.
    mutating func add(_ reference: String, instrument: String?, renewals: Renewals) {
        guard !mandates.contains(where: { $0.reference == reference }) else { return }
        mandates =
            mandates.suffix(Self.mandateLimit - 1) + [
                Mandate(reference: reference, instrument: instrument, state: .active)
            ]
        self.renewals = renewals
    }

    /// Ends a mandate; nil for every active one.
    mutating func end(_ reference: String?, as state: Mandate.State) {
        for index in mandates.indices
        where (reference == nil || mandates[index].reference == reference) && mandates[index].state == .active {
            mandates[index].state = state
        }
    }

    mutating func record(_ charge: Charge) { charges = charges.suffix(Self.chargeLimit - 1) + [charge] }
}

/// The mandate that a payment or a set-up of the simulated service is to leave behind.
struct SandboxMandateRequest: Codable, Sendable, Equatable {
    let subscription: ID<Subscription>
    let period: Int64
    let terms: String
    /// The text that the payer gave for the means of payment.
    var instrument: String?
    /// True for a set-up, which moves no money.
    let isSetup: Bool
}

/// The fields of the pay page about a mandate.
struct SandboxMandateForm: Sendable {
    let instrument: String?
    let renewals: SandboxAgreement.Renewals

    /// - Returns: nil for a word that `renewals` does not have.
    init?(_ form: [String: String]) {
        guard let renewals = SandboxAgreement.Renewals(rawValue: form["renewals"] ?? "succeed") else { return nil }
        self.renewals = renewals
        let text = form["instrument"] ?? ""
        instrument = text.isEmpty ? nil : text.firstScalars(100)
    }
}

extension SandboxUpstream {
    /// Replaces the entry of a subscription and returns the stored one.
    @discardableResult
    func changeAgreement(
        of subscription: ID<Subscription>, _ transition: @escaping @Sendable (inout SandboxAgreement) -> Void
    ) async throws(ProviderError) -> SandboxAgreement {
        let stored = try await book.update(subscription.rawValue) { data in
            let known = data.flatMap { try? JSONDecoder().decode(SandboxAgreement.self, from: $0) }
            guard data == nil || known != nil else { return nil }
            var changed = known ?? SandboxAgreement()
            transition(&changed)
            return changed == known ? nil : try? JSONEncoder().encode(changed)
        }
        return try Self.agreement(stored)
    }

    func agreement(of subscription: ID<Subscription>) async throws(ProviderError) -> SandboxAgreement {
        try Self.agreement(try await book.value(subscription.rawValue))
    }

    private static func agreement(_ data: Data?) throws(ProviderError) -> SandboxAgreement {
        guard let data else { return SandboxAgreement() }
        guard let known = try? JSONDecoder().decode(SandboxAgreement.self, from: data) else { throw .unavailable }
        return known
    }
}
