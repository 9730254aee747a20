import Domain
import ProviderKit

extension Check {
    static let pages = [
        Check("the pay page shows the payment, and only its own form is understood") { stage in
            guard let provider = try stage.provider() as? any PaymentPageServing else {
                throw CheckStop.notApplicable("it serves no pay page")
            }
            let attempt = try stage.attempt(3990, title: "<script>alert(\"1\")</script>")
            let reference = stage.reference(attempt, try await stage.open(provider, attempt))
            let page = try await stage.value("page") { try await provider.page(attempt.payment) }
            guard case .html(let html)? = page else {
                throw CheckStop.failed("the page is \(String(describing: page))")
            }
            try stage.expect(html.contains(attempt.amount.decimal), "the page does not show the amount")
            try stage.expect(!html.contains("<script>alert"), "the page runs what a title says")
            let before = try await stage.query(provider, reference)
            let refused = try await stage.value("act") {
                try await provider.act(attempt.payment, form: ["unknown field": "unknown value"])
            }
            guard case .refused? = refused else {
                throw CheckStop.failed("an unknown form became \(String(describing: refused))")
            }
            try stage.expect(
                try await stage.query(provider, reference) == before, "an unknown form changed the payment")
        },
        Check("the pay page of an unknown payment does not exist") { stage in
            guard let provider = try stage.provider() as? any PaymentPageServing else {
                throw CheckStop.notApplicable("it serves no pay page")
            }
            let stranger = try stage.attempt().payment
            let page = try await stage.value("page") { try await provider.page(stranger) }
            try stage.expect(page == nil, "there is a page of an unknown payment")
            let act = try await stage.value("act") { try await provider.act(stranger, form: [:]) }
            try stage.expect(act == nil, "an unknown payment could be acted on")
        },
    ]
}
