import Domain
import ProviderKit

extension Check {
    static let orders = [
        Check("refunds and disputes state the same in every order") { stage in
            _ = try stage.providerWithNotifications()
            let payment: ProviderReference
            let begin: PaymentReport
            do {
                let provider = try stage.provider()
                payment = try await stage.paid(provider)
                begin = try await stage.query(provider, payment)
            }
            for story in stage.stories(payment) {
                let raws = try await stage.mint(story, payment)
                guard raws.count > 1 else { continue }
                var facts: [Int: [ProviderFact]] = [:]
                for order in permutations(Array(raws.indices)) {
                    let provider = try stage.provider()
                    for index in order {
                        let stated = try await stage.receive(provider, raws[index]).facts
                        try stage.expect(
                            facts[index, default: stated] == stated,
                            "in the order \(order.map { "\(story[$0])" }) a fact became \(stated)")
                        facts[index] = stated
                    }
                    let asked = try await stage.query(provider, payment)
                    try stage.expect(asked == begin, "after the order \(order) the query says \(asked.outcome)")
                }
            }
        },
        Check("a payment whose money went back is still reported as paid") { stage in
            if stage.manifest.refunds == .none { throw CheckStop.notApplicable("the manifest says refunds: none") }
            let provider = try stage.provider()
            let payment = try await stage.paid(provider)
            try await stage.makeRefund(provider, stage.refund(payment, payment.amount.value))
            let outcome = try await stage.query(provider, payment).outcome
            try stage.expect(outcome == .succeeded(payment.amount), "after its refund it is \(outcome)")
        },
    ]

    /// Returns every order of some indices.
    private static func permutations(_ elements: [Int]) -> [[Int]] {
        guard let first = elements.first else { return [[]] }
        return permutations(Array(elements.dropFirst())).flatMap { rest in
            (0...rest.count).map { index in Array(rest[..<index]) + [first] + Array(rest[index...]) }
        }
    }
}

extension ConformanceFixture {
    /// The events of a payment, with each outcome of its refund and its dispute; each list has 120 orders.
    fileprivate func stories(_ payment: ProviderReference) -> [[RehearsedEvent.What]] {
        let (amount, refund) = (payment.amount, ids.make() as ID<Refund>)
        let part = Money(value: 1_000, currency: amount.currency)
        let (succeeded, failed) = (
            RehearsedEvent.What.refundSucceeded(refund, part), RehearsedEvent.What.refundFailed(refund, part)
        )
        return [
            [
                .paymentSucceeded(amount), .refundCreated(refund, part), succeeded, .disputeOpened(amount),
                .disputeWon(amount),
            ],
            [
                .paymentSucceeded(amount), .refundCreated(refund, part), failed, .disputeOpened(amount),
                .disputeLost(amount),
            ],
            [.paymentPending, .paymentSucceeded(amount), succeeded, failed, .disputeLost(amount)],
        ]
    }

    /// The notifications of a list of events, without those that the service does not have.
    fileprivate func mint(
        _ story: [RehearsedEvent.What], _ payment: ProviderReference
    ) async throws -> [RawNotification] {
        var raws: [RawNotification] = []
        for what in story {
            if let raw = try await mint("event of \(what)", payment, what) { raws.append(raw) }
        }
        return raws
    }
}
