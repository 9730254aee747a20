import Domain
import FoundationEssentials
import ProviderKit

extension Check {
    static let signatures = [
        refusal("a forged signature is refused", .forged),
        refusal("a missing signature is refused", .missing),
        refusal("another account's signature is refused", .anothers),
        Check("an altered notification is refused") { stage in
            let provider = try stage.providerWithNotifications()
            let payment = stage.reference(try stage.attempt())
            let raw = try await stage.need("event", payment, .paymentSucceeded(payment.amount))
            _ = try await stage.receive(provider, raw)
            for altered in alterations(raw) {
                try await stage.expectUnproven("receiving an altered notification") {
                    try await provider.receive(altered)
                }
            }
        },
        Check("a notification from outside of the time window is refused") { stage in
            try await examineWindow(stage, direction: 1)
        },
        Check("a notification from the future is refused") { stage in
            try await examineWindow(stage, direction: -1)
        },
    ]

    private static func refusal(_ name: String, _ signature: RehearsedSignature) -> Check {
        Check(name) { stage in
            let provider = try stage.providerWithNotifications()
            let payment = stage.reference(try stage.attempt())
            let genuine = try await stage.need("event", payment, .paymentSucceeded(payment.amount))
            _ = try await stage.receive(provider, genuine)
            let bad = try await stage.need("event", payment, .paymentSucceeded(payment.amount), signature)
            try await stage.expectUnproven("receiving it") { try await provider.receive(bad) }
        }
    }

    /// Checks that a notification counts inside the time window and not one second beyond it; without a window, that it
    /// counts a day later.
    private static func examineWindow(_ stage: ConformanceFixture, direction: Int64) async throws {
        let provider = try stage.providerWithNotifications()
        let payment = stage.reference(try stage.attempt())
        let raw = try await stage.need("event", payment, .paymentSucceeded(payment.amount))
        guard let window = stage.rehearsal.signatureWindow else {
            guard direction > 0 else { throw CheckStop.notApplicable("its signatures carry no time") }
            stage.clock.advance(seconds: 86_400)
            let late = try await stage.receive(provider, raw)
            return try stage.expect(!late.facts.isEmpty, "a notification that arrives late states nothing")
        }
        stage.clock.advance(seconds: direction * window)
        _ = try await stage.receive(provider, raw)
        stage.clock.advance(seconds: direction)
        try await stage.expect(.unproven(.time), "receiving it \(window + 1) s apart from its time") {
            try await provider.receive(raw)
        }
    }

    /// The notification with one bit flipped at its beginning, middle and end, cut short, and made longer.
    private static func alterations(_ raw: RawNotification) -> [RawNotification] {
        guard !raw.body.isEmpty else {
            return [raw.query + "&x=1", String(raw.query.dropLast())].map {
                RawNotification(method: raw.method, query: $0, headers: raw.headers, body: raw.body)
            }
        }
        let bytes = [UInt8](raw.body)
        var bodies = [0, bytes.count / 2, bytes.count - 1].map { index in
            var altered = bytes
            altered[index] ^= 1
            return altered
        }
        bodies += [Array(bytes.dropLast()), bytes + [0x20]]
        return bodies.map {
            RawNotification(method: raw.method, query: raw.query, headers: raw.headers, body: Data($0))
        }
    }
}
