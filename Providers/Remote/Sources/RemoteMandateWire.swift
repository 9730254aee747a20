import Domain
import FoundationEssentials
import ProviderKit

/// The mandate that a payment is to leave behind, in an opening.
struct RemoteMandateRequest: Encodable, Sendable {
    let subscription_id: String
    let period_index: Int64
    let terms: String

    init(_ mandate: MandateRequest) {
        subscription_id = mandate.subscription.rawValue
        period_index = mandate.periodIndex
        terms = mandate.terms
    }
}

/// The plugin's ids of a mandate, in calls about it.
struct RemoteMandateIDs: Encodable, Sendable {
    let reference: String
    let customer: String?
}

extension RemoteRequest {
    init(_ call: RemoteCall, _ setup: SetupReference) {
        self.init(call)
        setup_id = setup.setup.rawValue
        subscription_id = setup.subscription.rawValue
        reference = setup.reference
    }

    init(_ call: RemoteCall, _ known: MandateReference) {
        self.init(call)
        subscription_id = known.subscription.rawValue
        mandate = RemoteMandateIDs(reference: known.reference, customer: known.customer)
    }

    init(_ charge: MandateCharge) {
        self.init(.charge, charge.mandate)
        payment_id = charge.payment.rawValue
        order_id = charge.order.rawValue
        period_index = charge.periodIndex
        amount = charge.amount
        title = charge.title
    }
}

/// A mandate in the protocol's form.
struct RemoteMandate: Decodable {
    let reference: String
    let customer: String?
    let fingerprint: String?
    let label: String?
    let brand: String?
    let last4: String?
    let exp_month: Int64?
    let exp_year: Int64?

    /// The mandate without the texts that are out of their bounds; nil where that is one of its ids.
    var mandate: ProviderMandate? {
        guard let id = RemoteText.reference(reference), customer == nil || RemoteText.reference(customer) != nil else {
            return nil
        }
        return ProviderMandate(
            reference: id, customer: customer, fingerprint: RemoteText.reference(fingerprint),
            label: label.flatMap { RemoteText.isName($0) ? $0 : nil }, brand: RemoteText.word(brand),
            last4: last4.flatMap { $0.isDigits(4...4) ? $0 : nil },
            expMonth: exp_month.flatMap { (1...12).contains($0) ? $0 : nil },
            expYear: exp_year.flatMap { (2_000...9_999).contains($0) ? $0 : nil })
    }
}

extension RemotePayment {
    /// Makes the report of a payment; money counts also where the mandate beside it cannot be kept.
    func report(of payment: ID<Payment>, _ outcome: PaymentOutcome, log: ProviderLog) -> PaymentReport {
        var left: ProviderMandate?
        var kind: ChargeRefusal?
        switch outcome {
        case .succeeded:
            left = mandate?.mandate
            if mandate != nil, left == nil {
                log.write(.error, "remote: a mandate that cannot be kept", ["payment": payment.rawValue])
            }
        case .failed: kind = refusal.flatMap { ChargeRefusal(rawValue: $0) }
        case .accepted, .pending, .tryFailed, .cancelled: break
        }
        return PaymentReport(
            payment: payment, outcome: outcome, reference: RemoteText.reference(reference), mandate: left,
            refusal: kind)
    }
}

/// A set-up in the protocol's form.
struct RemoteSetup: Decodable {
    let setup_id: String
    let status: String
    let mandate: RemoteMandate?
    let reference: String?
    let reason: String?

    /// - Returns: nil for a success without a mandate that can be kept.
    var outcome: SetupOutcome? {
        switch status {
        case "succeeded": mandate?.mandate.map { .succeeded($0) }
        case "failed": .failed(reason: RemoteText.word(reason) ?? "failed")
        case "cancelled": .cancelled
        // Also `not_found`, because its opening may be on its way; an unknown status is neither a success nor an end.
        default: .pending
        }
    }
}

struct RemoteOpenedSetup: Decodable {
    let setup: RemoteSetup
    let contract: RemoteOpened.Contract
}

struct RemoteSetupAnswer: Decodable {
    let setup: RemoteSetup
}

struct RemoteMandateAnswer: Decodable {
    let mandate: RemoteMandate
}

/// A page of a subscription's charges.
struct RemoteCharges: Decodable {
    struct Charge: Decodable {
        let payment_id: String
        let order_id: String
        let subscription_id: String
        let period_index: Int64
        let amount: Money
        let reference: String?
        /// Seconds since 1970.
        let at: Int64

        /// - Returns: nil for ids that are not Paydesk's.
        var report: MandateChargeReport? {
            guard let payment = ID<Payment>(payment_id), let order = ID<Order>(order_id) else { return nil }
            return MandateChargeReport(
                payment: payment, order: order, periodIndex: period_index, amount: amount,
                reference: RemoteText.reference(reference), at: Timestamp(at))
        }
    }

    let charges: [Charge]
    /// The cursor of the next page; nil for the last one.
    let next: String?
}

/// A statement about a subscription's mandate.
struct RemoteMandateNotice: Decodable {
    let subscription_id: String
    let status: String
    let mandate: RemoteMandate?
}
