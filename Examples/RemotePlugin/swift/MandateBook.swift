import Crypto
import Foundation

/// The set-ups and the mandates of the bank, which only it touches.
final class MandateBook {
    private struct Setup {
        let subscription: String
        var status: String
        var terms = ""
        var notifyURL = ""
        var mandate: Mandate?
    }

    private struct Kept {
        let mandate: Mandate
        let subscription: String
        var isActive = true
    }

    /// The ends of the charges of a subscription, in the rehearsal; without a word they succeed.
    var played: [String: String] = [:]
    private var setups: [String: Setup] = [:]
    private var mandates: [String: Kept] = [:]

    func open(_ call: OpenSetupCall) throws -> SaidSetup {
        var setup = setups[call.setup_id] ?? Setup(subscription: call.subscription_id, status: "waiting")
        guard !["failed", "cancelled"].contains(setup.status) else { throw Refusal.rejected("closed") }
        (setup.terms, setup.notifyURL) = (call.terms, call.notify_url)
        setups[call.setup_id] = setup
        return said(call.setup_id)
    }

    /// As with payments, an opening that comes late must find it closed.
    func cancel(_ call: SetupCall) -> SaidSetup {
        var setup = setups[call.setup_id] ?? Setup(subscription: call.subscription_id, status: "waiting")
        if setup.status == "waiting" { setup.status = "cancelled" }
        setups[call.setup_id] = setup
        return said(call.setup_id)
    }

    func said(_ id: String) -> SaidSetup {
        guard let setup = setups[id] else { return SaidSetup(setup_id: id, status: "not_found") }
        return SaidSetup(setup_id: id, status: setup.status, reference: "S-\(id)", mandate: setup.mandate)
    }

    func page(_ id: String) -> (state: String, terms: String)? { setups[id].map { ($0.status, $0.terms) } }

    /// The payer's act; only what waits changes.
    func act(_ id: String, _ status: String, account: String) -> (notice: Notice, url: String)? {
        guard var setup = setups[id], setup.status == "waiting" else { return nil }
        setup.status = status
        if status == "succeeded" { setup.mandate = keep("M-\(id)", setup.subscription, account: account) }
        setups[id] = setup
        return (Notice(type: "setup", setup: said(id)), setup.notifyURL)
    }

    func keep(_ reference: String, _ subscription: String, account: String) -> Mandate {
        let digest = SHA256.hash(data: Data(account.utf8)).map { String(format: "%02x", $0) }.joined()
        let mandate = Mandate(
            reference: reference, label: "Account …\(account.suffix(4))", fingerprint: String(digest.prefix(32)))
        mandates[reference] = Kept(mandate: mandate, subscription: subscription)
        return mandate
    }

    /// - Returns: nil where it is not this subscription's, or has ended.
    func find(_ reference: String, of subscription: String) -> Mandate? {
        // Stands for a mandate of an older system.
        if reference.hasPrefix("imported_"), mandates[reference] == nil {
            return keep(reference, subscription, account: reference)
        }
        guard let kept = mandates[reference], kept.isActive, kept.subscription == subscription else { return nil }
        return kept.mandate
    }

    func revoke(_ reference: String, of subscription: String) {
        guard mandates[reference]?.subscription == subscription else { return }
        mandates[reference]?.isActive = false
    }

    func end(_ subscription: String) {
        for (reference, kept) in mandates where kept.subscription == subscription {
            mandates[reference]?.isActive = false
        }
    }
}
