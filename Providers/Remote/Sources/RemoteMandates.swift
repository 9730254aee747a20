public import Domain
public import ProviderKit

/// Charges mandates that the plugin keeps, where its manifest has `mandates`.
extension RemoteProvider: MandateCharging {
    /// The most pages of a list of charges.
    private static let pageLimit = 100

    public var chargesMandates: Bool { pin.manifest?.chargesMandates ?? false }

    // MARK: Set-ups

    public func setUp(_ attempt: SetupAttempt) async throws(ProviderError) -> OpenedSetup {
        let rules = try await rules()
        guard manifestState == .pinned else { throw .unavailable }
        guard rules.chargesMandates else { throw .unfit(reason: "no_mandates") }
        let accepts = Set(rules.contract_types).intersection(attempt.accepts)
        guard !accepts.isEmpty else { throw .unfit(reason: "contract_not_accepted") }
        var request = RemoteRequest(.openSetup)
        request.setup_id = attempt.setup.rawValue
        request.subscription_id = attempt.subscription.rawValue
        request.customer = attempt.customer
        request.currency = attempt.currency
        request.title = attempt.title
        request.terms = attempt.terms
        request.platform = attempt.platform.rawValue
        request.return_url = attempt.returnURL
        request.notify_url = context.notifyURL
        request.expires_at = attempt.expiresAt.rawValue
        request.accepts = accepts.map(\.rawValue).sorted()
        let opened: RemoteOpenedSetup = try await api.send(request)
        let report = try report(opened.setup, attempt.setup, lost: .outcomeUnknown)
        switch report.outcome {
        case .failed, .cancelled: throw .rejected(reason: "setup_closed")
        case .pending, .succeeded: break
        }
        let subject = ["setup": attempt.setup.rawValue]
        guard opened.setup.status != "not_found" else {
            throw lie("opened, and not found", .unreadable, subject, .outcomeUnknown)
        }
        guard let instruction = instruction(opened.contract), accepts.contains(instruction.type) else {
            throw lie("a contract that cannot be shown", .unreadable, subject, .outcomeUnknown)
        }
        return OpenedSetup(instruction: instruction, reference: report.reference)
    }

    public func query(setup: SetupReference) async throws(ProviderError) -> SetupReport {
        let answer: RemoteSetupAnswer = try await api.send(RemoteRequest(.querySetup, setup))
        return try report(answer.setup, setup.setup, lost: .unavailable)
    }

    public func cancel(setup: SetupReference) async throws(ProviderError) -> SetupReport {
        let answer: RemoteSetupAnswer = try await api.send(RemoteRequest(.cancelSetup, setup))
        return try report(answer.setup, setup.setup, lost: .outcomeUnknown, isEnd: true)
    }

    /// - Parameter isEnd: true where nothing is asked afterwards, so that a success without a mandate is a failure.
    private func report(
        _ said: RemoteSetup, _ setup: ID<Setup>, lost: ProviderError, isEnd: Bool = false
    ) throws(ProviderError) -> SetupReport {
        let subject = ["setup": setup.rawValue]
        guard said.setup_id == setup.rawValue else { throw lie("about another set-up", .otherPayment, subject, lost) }
        let missing: SetupOutcome? = isEnd ? .failed(reason: "no_mandate") : nil
        guard let outcome = said.outcome ?? missing else {
            throw lie("a set-up without its mandate", .unreadable, subject, lost)
        }
        return SetupReport(setup: setup, outcome: outcome, reference: RemoteText.reference(said.reference))
    }

    // MARK: Mandates

    public func charge(_ charge: MandateCharge) async throws(ProviderError) -> PaymentReport {
        guard try await rules().chargesMandates else {
            // An operator has to mend it; until then nothing is charged, and no try is counted.
            context.log.write(
                .error, "remote: the manifest has no mandates, and a charge waits",
                ["payment": charge.payment.rawValue])
            throw .unavailable
        }
        do throws(ProviderError) {
            let answer: RemotePaymentAnswer = try await api.send(RemoteRequest(charge))
            return try report(answer.payment, charge)
        } catch {
            guard case .rejected(let reason) = error else { throw error }
            return PaymentReport(payment: charge.payment, outcome: .failed(reason: reason), refusal: .soft)
        }
    }

    /// Makes the report of a charge, for which no payer waits and which leaves no mandate behind.
    private func report(_ said: RemotePayment, _ charge: MandateCharge) throws(ProviderError) -> PaymentReport {
        let payment = ProviderReference(payment: charge.payment, reference: nil, amount: charge.amount)
        let known = try report(said, payment, lost: .outcomeUnknown)
        func ending(_ outcome: PaymentOutcome, _ refusal: ChargeRefusal? = nil) -> PaymentReport {
            PaymentReport(payment: charge.payment, outcome: outcome, reference: known.reference, refusal: refusal)
        }
        switch known.outcome {
        case .succeeded(let money):
            guard money == charge.amount else {
                throw lie("another amount", .badMoney, charge.payment, .outcomeUnknown)
            }
            return ending(known.outcome)
        case .accepted: return ending(.processing)
        case .pending("not_found"):
            throw lie("charged, and not found", .unreadable, charge.payment, .outcomeUnknown)
        case .pending: return ending(known.outcome)
        // A charge has no payer who could try again, so its end is awaited.
        case .tryFailed: return ending(.pending(status: "try_failed"))
        case .failed: return ending(known.outcome, known.refusal ?? .soft)
        // It counts as a try, so that a plugin that cancels every charge is not asked without end.
        case .cancelled: return ending(.failed(reason: "cancelled"), .soft)
        }
    }

    public func verify(_ mandate: MandateReference) async throws(ProviderError) -> ProviderMandate {
        let answer: RemoteMandateAnswer = try await api.send(RemoteRequest(.verify, mandate))
        guard let known = answer.mandate.mandate, known.reference == mandate.reference,
            known.customer == mandate.customer || known.customer == nil || mandate.customer == nil
        else {
            throw lie("about another mandate", .otherPayment, Self.subject(mandate), .unavailable)
        }
        return ProviderMandate(
            reference: known.reference, customer: known.customer ?? mandate.customer, fingerprint: known.fingerprint,
            label: known.label, brand: known.brand, last4: known.last4, expMonth: known.expMonth,
            expYear: known.expYear)
    }

    public func charges(
        of mandate: MandateReference, since: Timestamp
    ) async throws(ProviderError) -> [MandateChargeReport]? {
        var found: [MandateChargeReport] = []
        var request = RemoteRequest(.charges, mandate)
        request.since = since.rawValue
        for _ in 0..<Self.pageLimit {
            let page: RemoteCharges
            do throws(ProviderError) { page = try await api.send(request) } catch {
                guard error == .unsupported else { throw error }
                return nil
            }
            guard page.charges.allSatisfy({ $0.subscription_id == mandate.subscription.rawValue }) else {
                throw lie("another subscription's charge", .otherPayment, Self.subject(mandate), .unavailable)
            }
            guard page.charges.allSatisfy({ $0.amount.value > 0 && $0.period_index >= 0 }) else {
                throw lie("a charge of nothing", .badMoney, Self.subject(mandate), .unavailable)
            }
            found += page.charges.compactMap(\.report)
            guard let next = page.next else { return found.sorted { $0.at < $1.at } }
            guard RemoteText.reference(next) != nil, next != request.after, !page.charges.isEmpty else { break }
            request.after = next
        }
        throw lie("a list without an end", .unreadable, Self.subject(mandate), .unavailable)
    }

    public func revoke(_ mandate: MandateReference) async throws(ProviderError) {
        var request = RemoteRequest(.revoke, mandate)
        request.owns_customer = mandate.ownsCustomer
        let answer: RemoteMandateAnswer = try await api.send(request)
        guard answer.mandate.reference == mandate.reference else {
            throw lie("about another mandate", .otherPayment, Self.subject(mandate), .outcomeUnknown)
        }
    }

    /// The ids of a mandate for the log, without those of its plugin.
    private static func subject(_ mandate: MandateReference) -> [String: String] {
        ["subscription": mandate.subscription.rawValue]
    }
}
