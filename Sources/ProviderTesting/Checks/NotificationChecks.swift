import Domain
import FoundationEssentials
import ProviderKit

extension Check {
    static let notifications = [
        Check("a genuine notification states exactly what happened") { stage in
            let provider = try stage.providerWithNotifications()
            let payment = stage.reference(try stage.attempt())
            for what in stage.happenings(payment) {
                guard let raw = try await stage.mint("event of \(what)", payment, what) else { continue }
                let received = try await stage.receive(provider, raw)
                try stage.expect((200..<300).contains(received.acknowledgement.status), "the acknowledgement is no 2xx")
                try stage.expect(!received.eventID.isEmpty && !received.type.isEmpty, "the event id or type is empty")
                try stage.expect(states(received.facts, what, payment), "\(what) became \(received.facts)")
            }
        },
        Check("an event keeps its id when it is repeated, and another has another") { stage in
            let provider = try stage.providerWithNotifications()
            let payment = stage.reference(try stage.attempt())
            let paid = RehearsedEvent.What.paymentSucceeded(payment.amount)
            let raw = try await stage.need("one", payment, paid)
            let first = try await stage.receive(provider, raw)
            let again = try await stage.receive(try stage.provider(), raw)
            try stage.expect(again.eventID == first.eventID, "the same bytes had two event ids")
            stage.clock.advance(seconds: 60)
            let later = try await stage.receive(provider, try await stage.need("one", payment, paid))
            try stage.expect(later.eventID == first.eventID, "the same event, sent again later, had another id")
            let other = try await stage.receive(provider, try await stage.need("two", payment, paid))
            try stage.expect(other.eventID != first.eventID, "two events had one id")
        },
        Check("the order of notifications changes none of them") { stage in
            _ = try stage.providerWithNotifications()
            let payment = stage.reference(try stage.attempt())
            let happenings: [RehearsedEvent.What] = [
                .paymentSucceeded(payment.amount), .unknownStatus,
                .paymentSucceeded(try payment.amount.adding(payment.amount)),
            ]
            var raws: [RawNotification] = []
            for (index, what) in happenings.enumerated() {
                raws.append(try await stage.need("event \(index)", payment, what))
            }
            var facts: [Int: [ProviderFact]] = [:]
            for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
                let provider = try stage.provider()
                for index in order {
                    let received = try await stage.receive(provider, raws[index])
                    try stage.expect(
                        facts[index] ?? received.facts == received.facts, "in the order \(order) a fact became another")
                    facts[index] = received.facts
                }
            }
        },
        Check("a wrong amount or currency is reported as it stands") { stage in
            let provider = try stage.providerWithNotifications()
            let payment = stage.reference(try stage.attempt())
            let other = payment.amount.currency.code == "USD" ? "CNY" : "USD"
            guard let currency = Currency(other) else { throw CheckStop.failed("no other currency") }
            var amounts = [Money(value: 1, currency: payment.amount.currency)]
            if stage.rehearsal.namesCurrencies {
                amounts.append(Money(value: payment.amount.value, currency: currency))
            }
            for amount in amounts {
                let raw = try await stage.need("event of \(amount)", payment, .paymentSucceeded(amount))
                let facts = try await stage.receive(provider, raw).facts
                try stage.expect(states(facts, .paymentSucceeded(amount), payment), "\(amount) became \(facts)")
            }
        },
        Check("an unknown status is never a success") { stage in
            let provider = try stage.providerWithNotifications()
            let payment = stage.reference(try stage.attempt())
            let facts = try await stage.receive(provider, try await stage.need("event", payment, .unknownStatus)).facts
            try stage.expect(!facts.contains(where: isSuccess), "an unknown status became \(facts)")
        },
        Check("a genuine notification that cannot be understood is rejected") { stage in
            let provider = try stage.providerWithNotifications()
            let payment = stage.reference(try stage.attempt())
            guard let raw = try await stage.mint("event", payment, .unreadable) else {
                throw CheckStop.notApplicable("whatever this service signs can be read")
            }
            switch try await stage.result({ try await provider.receive(raw) }) {
            case .failure(.rejected): try stage.expect(true, "")
            case .failure(let error): try stage.expect(false, "it threw \(error)")
            case .success(let received): try stage.expect(false, "it became \(received.facts)")
            }
        },
        Check("notifications are unsupported where the manifest has none") { stage in
            guard stage.manifest.notifications.isEmpty else {
                throw CheckStop.notApplicable("the manifest has notifications")
            }
            let provider = try stage.provider()
            let raw = RawNotification(method: .post, headers: [], body: Data("{}".utf8))
            try await stage.expect(.unsupported, "receive") { try await provider.receive(raw) }
        },
    ]

    /// Returns whether the facts are those of the event, and no others about the same object.
    private static func states(
        _ facts: [ProviderFact], _ what: RehearsedEvent.What, _ payment: ProviderReference
    ) -> Bool {
        guard !facts.isEmpty, facts.allSatisfy({ $0.payment == payment.payment }) else { return false }
        return facts.allSatisfy { fact in
            switch (what, fact) {
            case (.paymentSucceeded(let amount), .payment(let report)): report.outcome == .succeeded(amount)
            case (.paymentFailed, .payment(let report)): isFailure(report.outcome)
            case (.paymentCancelled, .payment(let report)): report.outcome.isClosed
            case (.paymentPending, .payment(let report)): !report.outcome.isSuccess && !report.outcome.isClosed
            case (.refundCreated(let id, let amount), .refund(let report)):
                report.outcome == .pending && isOf(report, id, amount)
            case (.refundSucceeded(let id, let amount), .refund(let report)):
                report.outcome == .succeeded && isOf(report, id, amount)
            case (.refundFailed(let id, let amount), .refund(let report)):
                isFailure(report.outcome) && isOf(report, id, amount)
            case (.disputeOpened(let amount), .dispute(let report)): isOf(report, .opened, amount)
            case (.disputeWon(let amount), .dispute(let report)): isOf(report, .won, amount)
            case (.disputeLost(let amount), .dispute(let report)): isOf(report, .lost, amount)
            default: false
            }
        }
    }

    private static func isSuccess(_ fact: ProviderFact) -> Bool {
        switch fact {
        case .payment(let report): report.outcome.isSuccess
        case .refund(let report): report.outcome == .succeeded
        case .dispute(let report): report.outcome == .won
        case .store(let statement): statement.purchase.map { $0.revocation == nil } ?? false
        case .setup(let report): if case .succeeded = report.outcome { true } else { false }
        case .mandate(let report): if case .made = report.event { true } else { false }
        case .externalToken, .consent: false
        }
    }

    private static func isFailure(_ outcome: PaymentOutcome) -> Bool {
        switch outcome {
        case .failed, .tryFailed: true
        case .accepted, .pending, .succeeded, .cancelled: false
        }
    }

    private static func isFailure(_ outcome: RefundOutcome) -> Bool {
        if case .failed = outcome { true } else { false }
    }

    /// Returns whether a report is about this refund: by our id, or by the provider's own where the refund was made
    /// there.
    private static func isOf(_ report: RefundReport, _ id: ID<Refund>, _ amount: Money) -> Bool {
        (report.refund == id || (report.refund == nil && report.reference != nil)) && report.amount ?? amount == amount
    }

    private static func isOf(_ report: DisputeReport, _ outcome: DisputeOutcome, _ amount: Money) -> Bool {
        report.outcome == outcome && report.amount ?? amount == amount
    }
}

extension ConformanceFixture {
    func providerWithNotifications() throws -> any PaymentProvider {
        guard manifest.goods != .appleProducts else {
            throw CheckStop.notApplicable("its notifications are a store's, about purchases and no payments of ours")
        }
        if manifest.notifications.isEmpty { throw CheckStop.notApplicable("the manifest has no notifications") }
        return try provider()
    }

    /// The events that payment services send notifications of.
    func happenings(_ payment: ProviderReference) -> [RehearsedEvent.What] {
        let part = Money(value: 1_000, currency: payment.amount.currency)
        return [
            .paymentSucceeded(payment.amount), .paymentFailed, .paymentCancelled, .paymentPending,
            .refundCreated(ids.make(), part), .refundSucceeded(ids.make(), part), .refundFailed(ids.make(), part),
            .disputeOpened(payment.amount), .disputeWon(payment.amount), .disputeLost(payment.amount),
        ]
    }

    /// Makes a notification of the rehearsal's service; nil where the service has no such notification.
    func mint(
        _ id: String, _ payment: ProviderReference, _ what: RehearsedEvent.What,
        _ signature: RehearsedSignature = .genuine, hasUnknownFields: Bool = false
    ) async throws -> RawNotification? {
        let event = RehearsedEvent(id: id, payment: payment, what: what, hasUnknownFields: hasUnknownFields)
        let raw = try await rehearsal.notification(event, signature, in: context)
        if let raw {
            try expect(manifest.notifications.contains(raw.method), "\(raw.method) is not in the manifest")
        }
        return raw
    }

    /// Makes a notification that every service must have.
    func need(
        _ id: String, _ payment: ProviderReference, _ what: RehearsedEvent.What,
        _ signature: RehearsedSignature = .genuine
    ) async throws -> RawNotification {
        guard let raw = try await mint(id, payment, what, signature) else {
            throw CheckStop.failed("the rehearsal made no notification of \(what), \(signature)")
        }
        return raw
    }

    func receive(_ provider: any PaymentProvider, _ raw: RawNotification) async throws -> ReceivedNotification {
        try await value("receive") { try await provider.receive(raw) }
    }
}
