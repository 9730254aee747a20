/// Runs claimed jobs, each kind by the use case of its subject.
package struct JobWorker: Sendable {
    let gateway: Gateway

    /// Runs a claimed job under its lease.
    package func perform(_ job: ClaimedJob) async {
        await gateway.jobQueue.perform(job) { (job) async throws(GatewayError) in try await work(job) }
    }

    /// Runs a claimed job repeatedly under one lease.
    ///
    /// - Parameter pause: returns true when it is time for another pass, false when it is time to stop.
    func perform(_ job: ClaimedJob, again pause: @escaping @Sendable (UInt64) async -> Bool) async {
        await gateway.jobQueue.perform(job) { (job) async throws(GatewayError) in
            while true {
                let asked = gateway.signals.events.asked
                let outcome = try await work(job)
                guard await pause(asked) else { return outcome }
            }
        }
    }

    private func work(_ job: ClaimedJob) async throws(GatewayError) -> JobOutcome {
        switch job.kind {
        case .processNotification: try await gateway.notifications.process(job)
        case .expireOrder: try await gateway.reconciliation.expireOrder(job)
        case .reconcilePayment: try await gateway.reconciliation.reconcilePayment(job)
        case .reconcileRefund: try await gateway.reconciliation.reconcileRefund(job)
        case .closeAttempts: try await gateway.reconciliation.closeAttempts(job)
        case .renewSubscription: try await gateway.renewals.act(job)
        case .announceRenewal: try await gateway.renewals.announce(job)
        case .announcePrices: try await gateway.priceAnnouncements.tell(job)
        case .checkHeldCharges: try await gateway.billingHold.check(job)
        case .reconcileSetup: try await gateway.mandateSetups.reconcile(job)
        case .revokeMandate: try await gateway.mandateSetups.revoke(job)
        case .reportExternalPurchase: try await gateway.externalReporting.report(job)
        case .completeRequest: try await gateway.reconciliation.completeRequest(job)
        case .syncAccount: try await gateway.accountReconciliation.perform(job)
        case .checkSubscription: try await gateway.subscriptionSync.check(job)
        case .replayNotifications: try await gateway.notificationSync.run(job)
        case .answerConsumption: try await gateway.consumptionAnswers.send(job)
        case .checkReceipt: try await gateway.receipts.confirmation.check(job)
        case .grantUnmapped: try await gateway.purchaseBacklog.grantUnmapped(job)
        case .regradePurchases: try await gateway.purchaseBacklog.reapply(job)
        case .nameAppTransactions: try await gateway.appTransactions.name(job)
        case .findWork: try await gateway.workFinder.find()
        case .crossBoundaries: try await gateway.entitlements.announceBoundaries()
        case .dispatchEvents: try await gateway.events.dispatch()
        case .deliverWebhook: try await gateway.deliveries.makeFirstAttempts(job)
        case .retryDeliveries: try await gateway.deliveries.makeFurtherAttempts(job)
        case .endDeliveries: try await gateway.deliveries.end(job)
        case .sealAudit: try await gateway.auditLog.seal()
        case .applyRetention: try await gateway.retention.apply()
        }
    }
}
