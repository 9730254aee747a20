import Domain
import Foundation
import ProviderKit
import ProviderTesting

/// Plays the fake's payer and payment service.
struct FakeRehearsal: Rehearsal {
    let flaw: Flaw?
    let service = FakeService()

    var secrets: [String] { [FakeProvider.secret] }
    var signatureWindow: Int64? { 300 }

    func makeProvider(_ context: ProviderContext, upstream: UpstreamBehaviour) throws -> any PaymentProvider {
        FakeProvider(context: context, flaw: flaw)
    }

    func answer(
        _ request: OutgoingRequest, in context: ProviderContext
    ) async throws(HTTPTransportError) -> IncomingReply {
        let path = request.url.split(separator: "/").map(String.init)
        let words = String(decoding: request.body, as: UTF8.self).split(separator: " ").map(String.init)
        guard let verb = path.last, let value = Int64(words[0]), let currency = Currency(words[1]) else {
            throw .notSent
        }
        let amount = Money(value: value, currency: currency)
        let id = path[path.count - 2]
        var isRefused = false
        let payment = service.change(id, amount) { payment in
            switch verb {
            case "open":
                // A payment that was closed before it was opened stays closed.
                guard payment.state == "open" else { return }
                payment.copies = words[2] == "same" ? 1 : payment.copies + 1
            case "query": if payment.copies == 0 && payment.state == "open" { payment.state = "cancelled" }
            case "cancel": if payment.state == "open" { payment.state = "cancelled" }
            default:
                guard !payment.refunds.contains(where: { $0.id == words[2] }) else { return }
                let left = payment.refunds.reduce(payment.amount.value) { $0 - $1.amount.value }
                isRefused = verb == "refund" && amount.value > left
                if !isRefused { payment.refunds.append((id: words[2], amount: amount)) }
            }
        }
        let state =
            [payment.state, "\(payment.amount.value)", payment.amount.currency.code] + payment.refunds.map(\.id)
        return IncomingReply(status: isRefused ? 409 : 200, body: Data(state.joined(separator: " ").utf8))
    }

    func act(_ act: PayerAct, on payment: ID<Payment>, in context: ProviderContext) async throws -> Bool {
        guard let known = service.payment(payment.rawValue), known.state == "open" else { return false }
        service.change(payment.rawValue, known.amount) { $0.state = act == .succeed ? "paid" : "failed" }
        return true
    }

    func effects(of payment: ID<Payment>, in context: ProviderContext) async throws -> UpstreamEffects {
        let known = service.payment(payment.rawValue)
        return UpstreamEffects(payments: known?.copies ?? 0, refunds: known?.refunds.map(\.amount) ?? [])
    }

    func notification(
        _ event: RehearsedEvent, _ signature: RehearsedSignature, in context: ProviderContext
    ) async throws -> RawNotification? {
        let text: String
        switch event.what {
        case .paymentSucceeded(let amount): text = body(event, "paid", amount)
        case .unknownStatus: text = body(event, "teleported", event.payment.amount)
        case .unreadable: text = "unreadable"
        default: return nil
        }
        let time = context.time.now.rawValue
        let data = Data(text.utf8)
        let code: String? =
            switch signature {
            case .genuine: FakeProvider.sign(data, time)
            case .forged: "0badc0de"
            case .anothers: FakeProvider.sign(data, time, "another")
            case .missing: nil
            }
        return RawNotification(
            method: .post, headers: code.map { [(name: "x-signature", value: "\(time),\($0)")] } ?? [], body: data)
    }

    private func body(_ event: RehearsedEvent, _ word: String, _ amount: Money) -> String {
        let id = event.id.replacingOccurrences(of: " ", with: "-")
        return "\(id) \(event.payment.payment) \(word) \(amount.value) \(amount.currency)"
    }
}
