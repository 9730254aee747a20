import Domain
import FoundationEssentials
import ProviderKit
import Synchronization

extension Check {
    static let unknowns = [
        Check("unknown fields in an answer change nothing") { stage in
            try await stage.needHTTP()
            for trial in try await Trials(stage).all() {
                let added = Mutex(false)
                let lacking = Mutex(false)
                let rehearsal = stage.rehearsal
                stage.transport.interference = { request, answer throws(HTTPTransportError) in
                    let reply = try await answer(request)
                    if reply.body.isEmpty { return reply }
                    guard let more = rehearsal.addingUnknownFields(to: reply) else {
                        lacking.withLock { $0 = true }
                        return reply
                    }
                    added.withLock { $0 = true }
                    return more
                }
                let provider = try stage.provider()
                let said = try await stage.value("\(trial.name) with unknown fields") { try await trial.run(provider) }
                if lacking.withLock({ $0 }) { throw RehearsalGap("cannot add unknown fields to an answer") }
                guard added.withLock({ $0 }) else { continue }
                let normal = try await stage.repeatHealthy(trial)
                try stage.expect(said == normal, "\(trial.name) gave \(said) instead of \(normal)")
            }
        },
        Check("unknown fields in a notification change nothing") { stage in
            let provider = try stage.providerWithNotifications()
            let payment = stage.reference(try stage.attempt())
            for what in stage.happenings(payment) {
                guard let plain = try await stage.mint("event of \(what)", payment, what),
                    let more = try await stage.mint("event of \(what)", payment, what, hasUnknownFields: true)
                else { continue }
                guard more.body != plain.body || more.query != plain.query else {
                    throw RehearsalGap("added no unknown field to a notification")
                }
                let (known, unknown) = (
                    try await stage.receive(provider, plain), try await stage.receive(provider, more)
                )
                try stage.expect(unknown.facts == known.facts, "\(known.facts) became \(unknown.facts)")
                try stage.expect(unknown.eventID == known.eventID, "the event had another id")
            }
        },
        Check("an unknown status that is asked for is neither a success nor an end") { stage in
            try stage.needPayer()
            let provider = try stage.provider()
            let payment = try await stage.pending(provider)
            guard try await stage.rehearsal.useUnknownStatus(of: payment.payment, in: stage.context) else {
                throw CheckStop.notApplicable("its service has no statuses but the adapter's own")
            }
            let outcome = try await stage.query(provider, payment).outcome
            try stage.expect(!outcome.isSuccess && !outcome.isClosed, "an unknown status became \(outcome)")
        },
    ]
}
