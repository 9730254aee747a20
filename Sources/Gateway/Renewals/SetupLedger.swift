import Domain
import ProviderKit
import Store

// Set-ups of mandates: a trial begins with the success of one, and another replaces a mandate.
extension ManagedSubscriptionLedger {
    /// Applies an account's report about a set-up.
    ///
    /// - Returns: false where the set-up is unknown, or is another account's; then nothing is changed.
    func apply(_ report: SetupReport, from account: AccountID) throws -> Bool {
        guard let known = try tx.setups.find(report.setup), known.account == account,
            let user = try tx.managedSubscriptions.find(known.subscription)?.subscription.user
        else { return false }
        try tx.users.lock(user)
        guard let standing = try lock(known.subscription), let setup = try tx.setups.find(report.setup) else {
            return false
        }
        switch report.outcome {
        case .pending:
            if setup.state == .created || setup.state == .unknown {
                _ = try tx.setups.move(setup.id, from: setup.state, to: .pending)
            }
        case .failed(let reason): try fail(setup, reason: reason.stored(100))
        case .cancelled: try fail(setup, reason: nil)
        case .succeeded(let mandate): try succeed(setup, mandate, standing)
        }
        return true
    }

    /// Records that a call about a set-up ended without an answer.
    func markUnknown(_ setup: ID<Setup>) throws {
        _ = try tx.setups.move(setup, from: .created, to: .unknown)
    }

    private func fail(_ setup: SetupRecord, reason: String?) throws {
        guard !setup.state.isFinal else { return }
        _ = try tx.setups.move(setup.id, from: setup.state, to: reason == nil ? .cancelled : .failed, failure: reason)
    }

    private func succeed(_ setup: SetupRecord, _ mandate: ProviderMandate, _ standing: Standing) throws {
        guard !setup.state.isFinal else {
            // It was cancelled here, and another one may have taken its place: what it made is of no use.
            if setup.state != .succeeded {
                try revoke(try keep(mandate, for: standing.subscription, isActive: false))
            }
            return
        }
        switch setup.purpose {
        case .trial: try beginTrial(setup, mandate, standing)
        case .replace: try replace(setup, mandate, standing)
        }
    }

    private func replace(_ setup: SetupRecord, _ mandate: ProviderMandate, _ found: Standing) throws {
        var standing = found
        guard standing.subscription.state == .running else {
            let kept = try keep(mandate, for: standing.subscription, isActive: false)
            try revoke(kept)
            _ = try tx.setups.move(setup.id, from: setup.state, to: .succeeded, mandate: kept)
            return
        }
        let kept = try keep(mandate, for: standing.subscription)
        _ = try tx.setups.move(setup.id, from: setup.state, to: .succeeded, mandate: kept)
        try take(&standing)
    }

    /// Goes on with a mandate that replaces the one before, or comes after the money.
    private func take(_ standing: inout Standing) throws {
        standing.subscription.takeMandate(at: log.now)
        try save(standing, .paymentMethod)
        let subscription = standing.subscription
        // A store's that has begun meanwhile was not followed, because this one was to end anyway.
        try followStore(of: subscription.user, subscription.environment, group: subscription.stackGroup)
    }

    private func beginTrial(_ setup: SetupRecord, _ mandate: ProviderMandate, _ found: Standing) throws {
        var standing = found
        let subscription = standing.subscription
        guard let order = try setup.order.flatMap({ try tx.orders.lock($0) }), order.state == .open,
            subscription.state == .pending
        else {
            return try refuseTrial(setup, mandate, standing, reason: nil)
        }
        let group = subscription.stackGroup
        let isRunning =
            try tx.managedSubscriptions.findRunning(
                of: subscription.user, subscription.environment, group: group) != nil
        guard !isRunning else { return try refuseTrial(setup, mandate, standing, reason: "duplicate") }
        // Asked again: the user may have bought something of the group since the checkout.
        let isEligible = try TrialDays(of: subscription.user, subscription.environment, billing.secrets, in: tx)
            .isEligible(for: group)
        let claims = TrialClaims(secrets: billing.secrets)
        let byUser = claims.claim(of: subscription.user, subscription)
        let kind = entitlements.registry[subscription.account]?.manifest.kind ?? subscription.account.rawValue
        let byInstrument = mandate.fingerprint.map { claims.claim(ofInstrument: $0, at: kind, subscription) }
        // Claimed by the user in any case, so that the next checkout has no trial. Of two who give the same instrument at
        // once, the constraint lets one claim it.
        guard try tx.managedSubscriptions.claimTrial(byUser), isEligible,
            try byInstrument.map({ try tx.managedSubscriptions.claimTrial($0) }) ?? true
        else {
            return try refuseTrial(setup, mandate, standing, reason: "trial_used")
        }
        let kept = try keep(mandate, for: subscription)
        _ = try tx.setups.move(setup.id, from: setup.state, to: .succeeded, mandate: kept)
        standing.subscription.beginTrial(at: log.now)
        try tx.orders.move(order.id, from: order.state, to: .paid, paidBy: nil, at: log.now)
        try tx.orders.setPeriod(
            from: standing.subscription.periodStart, to: standing.subscription.periodEnd, of: order.id)
        try log.appendTimeline(order, "order.paid", "trial")
        try log.audit(order, "order.paid", before: order.state.rawValue, after: "paid")
        if let overlap = try overlap(of: standing.subscription) { standing.subscription.cancellation = overlap }
        try log.emit(.orderPaid, order.id)
        let cancellation = standing.subscription.cancellation
        let facts = SubscriptionEntryFacts {
            $0.order = order.id
            $0.cancellation = cancellation
        }
        try save(standing, .started, facts)
        try entitlements.recompute(order.id)
        if standing.subscription.cancellation == .replaced { try announceOverlap(standing) }
    }

    /// Has the open set-up of a closed order cancelled at its provider: nobody's trial begins after giving up.
    func cancelTrial(of order: Order) throws {
        guard order.mayHaveSetup, let setup = try tx.setups.find(of: order.id), !setup.state.isFinal else { return }
        try cancelLater(setup)
    }

    /// Ends a trial that does not begin: nothing is charged, and what the set-up made is revoked.
    private func refuseTrial(
        _ setup: SetupRecord, _ mandate: ProviderMandate, _ found: Standing, reason: String?
    ) throws {
        var standing = found
        let kept = try keep(mandate, for: standing.subscription, isActive: false)
        try revoke(kept)
        _ = try tx.setups.move(
            setup.id, from: setup.state, to: reason == nil ? .cancelled : .failed, failure: reason, mandate: kept)
        if let id = setup.order, let order = try tx.orders.lock(id), order.state == .open {
            try closeOrder(order, reason: reason ?? "cancelled")
        }
        guard standing.subscription.state == .pending else { return }
        try endBeforeBeginning(&standing, .duplicate)
    }

    // MARK: Mandates that come or go by themselves

    /// Applies an account's statement about the mandate of a subscription.
    ///
    /// - Returns: false where the subscription is unknown, or is another account's; then nothing is changed.
    func apply(_ report: MandateReport, from account: AccountID) throws -> Bool {
        guard let known = try tx.managedSubscriptions.find(report.subscription)?.subscription, known.account == account
        else { return false }
        try tx.users.lock(known.user)
        guard var standing = try lock(report.subscription) else { return false }
        switch report.event {
        case .made(let mandate):
            // A late one repairs a subscription that was paid without it, while its period runs.
            switch standing.subscription.state {
            case .running:
                guard try tx.mandates.findActive(of: report.subscription) == nil else { return true }
                try keep(mandate, for: standing.subscription)
                try take(&standing)
            case .ended:
                let known = try tx.mandates.list(of: report.subscription).compactMap { try? billing.secrets.open($0) }
                guard !known.contains(where: { $0.reference == mandate.reference }) else { return true }
                // The customer of an import is not Paydesk's to delete.
                let owns = !known.contains { $0.customer == mandate.customer && !$0.ownsCustomer }
                try revoke(
                    try keep(mandate, for: standing.subscription, isActive: false, ownsCustomer: owns))
            case .pending: return true
            }
        case .ended(let reference):
            try endMandate(of: &standing) { reference == nil || $0.reference == reference }
        case .customerDeleted(let customer):
            try endMandate(of: &standing) { $0.customer == customer }
        }
        return true
    }

    /// Ends the active mandate of a subscription where it is one of those that have ended; the payer gives another.
    private func endMandate(of standing: inout Standing, where hasEnded: (MandateReference) -> Bool) throws {
        guard let active = try tx.mandates.findActive(of: standing.subscription.id),
            hasEnded(try billing.secrets.open(active))
        else { return }
        try tx.mandates.move(active.id, from: .active, to: .dead)
        guard standing.subscription.willRenew else { return }
        standing.subscription.refusal = .hard
        standing.subscription.nextTryAt = nil
        try saveRefusal(standing, order: nil, payment: nil)
    }
}

/// The claims of trials, which name nobody, so that they outlive an erasure.
struct TrialClaims {
    let secrets: MandateSecrets

    func claim(of user: ID<User>, _ subscription: ManagedSubscription) -> TrialClaim {
        claim(.user, user.rawValue, subscription)
    }

    /// - Parameter kind: the kind of provider whose fingerprint it is, at whichever of its accounts.
    func claim(
        ofInstrument fingerprint: String, at kind: String, _ subscription: ManagedSubscription
    ) -> TrialClaim {
        claim(.instrument, "\(kind)/\(fingerprint)", subscription)
    }

    private func claim(_ kind: TrialClaim.Kind, _ text: String, _ subscription: ManagedSubscription) -> TrialClaim {
        TrialClaim(
            environment: subscription.environment, group: subscription.stackGroup, kind: kind,
            digests: secrets.digests(text))
    }
}
