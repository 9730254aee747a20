import Domain
import ProviderKit

extension Check {
    static let strangers = [
        Check("a notification of a payment that is not ours states nothing") { stage in
            try await expectNothing(
                stage, { .foreignPaymentSucceeded($0) }, "its notifications are about payments of ours alone")
        },
        Check("a notification of another account's payment states nothing") { stage in
            try await expectNothing(
                stage, { .anothersPaymentSucceeded($0) }, "its notifications name no account but by their signature")
        },
        Check("another payment's reference gives none of its facts") { stage in
            let provider = try stage.provider()
            let paid = try await stage.paid(provider)
            guard let reference = paid.reference else {
                throw CheckStop.notApplicable("it gives payments no reference of its own")
            }
            let unpaid = try stage.attempt()
            _ = try await stage.open(provider, unpaid)
            let mixed = ProviderReference(payment: unpaid.payment, reference: reference, amount: unpaid.amount)
            for (what, call) in [("query", provider.query), ("cancel", provider.cancel)] {
                if what == "cancel" && stage.manifest.cancel == .none { continue }
                switch try await stage.result({ try await call(mixed) }) {
                case .failure: try stage.expect(true, "")
                case .success(let report):
                    try stage.expect(!report.outcome.isSuccess, "\(what) took another payment's money for this one's")
                }
            }
            let outcome = try await stage.query(provider, paid).outcome
            try stage.expect(outcome == .succeeded(paid.amount), "the other payment is \(outcome) now")
        },
    ]

    private static func expectNothing(
        _ stage: ConformanceFixture, _ what: (Money) -> RehearsedEvent.What, _ why: String
    ) async throws {
        let provider = try stage.providerWithNotifications()
        let payment = stage.reference(try stage.attempt())
        guard let raw = try await stage.mint("event of a stranger", payment, what(payment.amount)) else {
            throw CheckStop.notApplicable(why)
        }
        switch try await stage.result({ try await provider.receive(raw) }) {
        case .success(let received):
            try stage.expect(received.facts.isEmpty, "it states \(received.facts)")
        case .failure(.rejected), .failure(.unproven): try stage.expect(true, "")
        case .failure(let error): try stage.expect(false, "it threw \(error), and would be sent again")
        }
    }
}
