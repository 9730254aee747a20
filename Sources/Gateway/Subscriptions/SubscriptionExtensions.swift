package import Domain
import ProviderKit
import Store

/// A subscription whose store moved its renewal date.
package struct ExtendedSubscription: Encodable, Sendable, Equatable {
    package let id: ID<Subscription>
    package let days: Int64
    /// The new end of the current period in the store's answer; nil where it has none.
    @Nullable package private(set) var endsAt: Timestamp?

    private enum CodingKeys: String, CodingKey {
        case id, days
        case endsAt = "expires_at"
    }
}

/// Extensions of subscriptions, which a store grants at an admin's request.
package struct SubscriptionExtensions: Sendable {
    let settlements: SettlementRunner

    private static let noStore: LocalizedText = "this subscription's account cannot ask its store for an extension"
    private static let outcomeUnknown: LocalizedText = """
        the store did not say whether it extended the subscription, and is being asked; look at the subscription's end \
        before another extension, because a second one would count
        """

    /// Requests a store to extend a subscription by days; the new end arrives by notification or by the next query.
    ///
    /// The intent is stored before the store is called. A call whose outcome is unknown is never repeated, whatever the
    /// idempotency key.
    ///
    /// - Throws: `invalidRequest`, `notFound`, `conflict` with the store's reason, `providerUnavailable` where nothing
    ///   was extended, `outcomeUnknown` where it may have been.
    package func extend(
        _ subscription: String, days: Int64, reasonCode: Int64, context: CallContext
    ) async throws(GatewayError) -> ExtendedSubscription {
        guard RenewalExtension.dayRange.contains(days) else {
            throw .invalidRequest(field: "days", reason: "must be 1 to 90")
        }
        guard let reason = RenewalExtension.Reason(rawValue: reasonCode) else {
            throw .invalidRequest(field: "reason_code", reason: "must be 0 to 3")
        }
        guard let id = ID<Subscription>(subscription) else { throw .unknown(.subscription, subscription) }
        let resumed = context.resumed
        let found = try await settlements.store.read { db -> (SubscriptionRecord, bundle: String, ExtensionStep?)? in
            guard let record = try db.subscriptions.find(id) else { return nil }
            let bundle = try db.purchases.list(record.environment, original: record.original).last?.purchase.bundleID
            return (record, bundle ?? "", try resumed.flatMap { try ExtensionStep.last(of: $0, id, in: db) })
        }
        guard let (record, bundle, last) = found else { throw .unknown(.subscription, subscription) }
        guard let provider = settlements.providers.registry[record.account]?.provider as? any RenewalExtending else {
            throw .conflict(reason: Self.noStore)
        }
        if resumed != nil {
            // Only an extension that certainly was not made is requested again.
            switch last {
            case .extended: return ExtendedSubscription(id: id, days: days, endsAt: nil)
            case .failed, .refused: break
            case .asked, .unknown, nil: throw .outcomeUnknown(Self.outcomeUnknown)
            }
        }
        let request = RenewalExtension(
            environment: record.environment, bundleID: bundle, originalTransactionID: record.original, days: days,
            reason: reason, request: resumed ?? settlements.ids.make(Request.self).rawValue)
        try await storeIntent(request, record, isNew: resumed == nil, context: context)
        // A client that disconnects interrupts neither the call nor the record of its result.
        let end = try await settlements.providers.complete { () async throws(GatewayError) in
            try await call(provider, request, record, context.audit)
        }
        return ExtendedSubscription(id: id, days: days, endsAt: end)
    }

    private func storeIntent(
        _ request: RenewalExtension, _ record: SubscriptionRecord, isNew: Bool, context: CallContext
    ) async throws(GatewayError) {
        try await settlements.run(context.audit) { settlement in
            try settlement.tx.purchaseOwners.lock(record.environment, record.original)
            if isNew { try settlement.tx.bind(context, to: request.request) }
            try Self.audit(.asked, request, record, in: settlement)
        }
    }

    private func call(
        _ provider: any RenewalExtending, _ request: RenewalExtension, _ record: SubscriptionRecord,
        _ audit: AuditContext
    ) async throws(GatewayError) -> Timestamp? {
        let end: Timestamp?
        do throws(ProviderError) {
            end = try await settlements.providers.measured(record.account) { () async throws(ProviderError) in
                try await provider.extend(request)
            }
        } catch {
            switch error {
            case .rejected(let reason), .unfit(let reason):
                try await self.record(.refused, request, record, audit, reason)
                throw .conflict(reason: LocalizedText(stringLiteral: reason))
            case .unsupported:
                try await self.record(.refused, request, record, audit, Self.noStore.english)
                throw .conflict(reason: Self.noStore)
            case .unavailable:
                try await self.record(.failed, request, record, audit)
                throw .providerUnavailable
            case .outcomeUnknown, .unproven:
                try await self.record(.unknown, request, record, audit)
                throw .outcomeUnknown(Self.outcomeUnknown)
            }
        }
        try await self.record(.extended, request, record, audit, end.map { "until \($0.rawValue)" } ?? "")
        return end
    }

    private func record(
        _ step: ExtensionStep, _ request: RenewalExtension, _ record: SubscriptionRecord, _ audit: AuditContext,
        _ detail: String = ""
    ) async throws(GatewayError) {
        try await settlements.run(audit) { settlement in
            try Self.audit(step, request, record, detail, in: settlement)
            if step == .extended || step == .unknown {
                try settlement.tx.subscriptions.setNextCheck(settlement.now, of: record.id)
            }
        }
    }

    /// Writes a step to the subscription's audit; the lock orders two extensions of one subscription.
    private static func audit(
        _ step: ExtensionStep, _ request: RenewalExtension, _ record: SubscriptionRecord, _ detail: String = "",
        in settlement: Settlement
    ) throws {
        try settlement.tx.purchaseOwners.lock(record.environment, record.original)
        let parts = ["\(request.request): \(request.days) days, reason \(request.reason.rawValue)", detail]
        try settlement.log.audit(
            subject: record.id.rawValue, step.rawValue, before: "",
            after: parts.filter { !$0.isEmpty }.joined(separator: ", "), about: record.user)
    }
}

/// A step of an extension, as the audit records it.
private enum ExtensionStep: String, Sendable {
    case asked = "subscription.extension_asked"
    case extended = "subscription.extended"
    case refused = "subscription.extension_refused"
    /// The store could not be reached, so that nothing was extended.
    case failed = "subscription.extension_failed"
    case unknown = "subscription.extension_unknown"

    /// The largest number of a subscription's audit entries that are searched.
    private static let depth: Int64 = 200

    /// Finds the last step of an earlier run of the same request.
    static func last(of request: String, _ subscription: ID<Subscription>, in db: any Database) throws -> ExtensionStep?
    {
        let entries = try db.audit.list(subject: subscription.rawValue, before: nil, limit: depth)
        let found = entries.lazy.map(\.entry).first { $0.after.hasPrefix("\(request):") }
        return found.flatMap { ExtensionStep(rawValue: $0.action) }
    }
}
