import Domain
import ProviderKit

/// A provider's fact in the form that the inbox keeps, so that processing needs nothing but the stored row.
struct StoredFact: Codable {
    enum Subject: String, Codable { case payment, refund, dispute }

    var subject: Subject
    var payment: ID<Payment>
    var refund: ID<Refund>?
    var reference: String?
    var outcome: String
    var detail: String?
    var amount: Money?

    init(_ fact: ProviderFact) {
        switch fact {
        case .payment(let report):
            subject = .payment
            payment = report.payment
            reference = report.reference
            switch report.outcome {
            case .accepted: outcome = "accepted"
            case .pending(let status): (outcome, detail) = ("pending", status)
            case .succeeded(let money): (outcome, amount) = ("succeeded", money)
            case .failed(let reason): (outcome, detail) = ("failed", reason)
            case .tryFailed(let reason): (outcome, detail) = ("try_failed", reason)
            case .cancelled: outcome = "cancelled"
            }
        case .refund(let report):
            subject = .refund
            payment = report.payment
            refund = report.refund
            reference = report.reference
            amount = report.amount
            switch report.outcome {
            case .pending: outcome = "pending"
            case .succeeded: outcome = "succeeded"
            case .failed(let reason): (outcome, detail) = ("failed", reason)
            case .reversed: outcome = "reversed"
            }
        case .dispute(let report):
            subject = .dispute
            payment = report.payment
            reference = report.reference
            amount = report.amount
            switch report.outcome {
            case .opened: outcome = "opened"
            case .won: outcome = "won"
            case .lost: outcome = "lost"
            }
        }
    }

    /// The fact again; nil for words that this release does not know.
    var fact: ProviderFact? {
        switch subject {
        case .payment:
            paymentOutcome.map { .payment(PaymentReport(payment: payment, outcome: $0, reference: reference)) }
        case .refund:
            refundOutcome.map {
                .refund(
                    RefundReport(payment: payment, refund: refund, outcome: $0, amount: amount, reference: reference))
            }
        case .dispute:
            disputeOutcome.map {
                .dispute(DisputeReport(payment: payment, reference: reference, outcome: $0, amount: amount))
            }
        }
    }

    private var paymentOutcome: PaymentOutcome? {
        switch outcome {
        case "accepted": .accepted
        case "pending": .pending(status: detail ?? "")
        case "succeeded": amount.map(PaymentOutcome.succeeded)
        case "failed": .failed(reason: detail ?? "")
        case "try_failed": .tryFailed(reason: detail ?? "")
        case "cancelled": .cancelled
        default: nil
        }
    }

    private var refundOutcome: RefundOutcome? {
        switch outcome {
        case "pending": .pending
        case "succeeded": .succeeded
        case "failed": .failed(reason: detail ?? "")
        case "reversed": .reversed
        default: nil
        }
    }

    private var disputeOutcome: DisputeOutcome? {
        switch outcome {
        case "opened": .opened
        case "won": .won
        case "lost": .lost
        default: nil
        }
    }
}
