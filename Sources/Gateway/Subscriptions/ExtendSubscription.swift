package import Domain
import ProviderKit
import Store

/// A subscription whose store moved its renewal date.
package struct ExtendedSubscription: Encodable, Sendable, Equatable {
    package let id: ID<Subscription>
    package let days: Int64
    /// When the current period ends now, in the store's word; nil where it gave none.
    @Nullable package private(set) var endsAt: Timestamp?

    private enum CodingKeys: String, CodingKey {
        case id, days
        case endsAt = "expires_at"
    }
}

extension Gateway {
    /// Has a store give days to a subscription; the new end itself comes by notification, or when the store is asked.
    ///
    /// The intent is kept before the store is called. A call whose outcome is not known is never made again, whatever key it
    /// comes back with.
    ///
    /// - Throws: `invalidRequest`, `notFound`, `conflict` with the store's limits in words, `providerUnavailable` where
    ///   nothing happened, `outcomeUnknown` where it may have.
    package func extendSubscription(
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
        let found = try await read { db -> (SubscriptionRecord, bundle: String, ExtensionLog?)? in
            guard let record = try db.subscriptions.find(id) else { return nil }
            let bundle = try db.purchases.list(record.environment, original: record.original).last?.purchase.bundleID
            return (record, bundle ?? "", try resumed.flatMap { try ExtensionLog($0, of: id, in: db) })
        }
        guard let (record, bundle, before) = found else { throw .unknown(.subscription, subscription) }
        guard let provider = registry[record.account]?.provider as? any RenewalExtending else {
            throw .conflict(reason: Self.nobodyToAsk)
        }
        if resumed != nil {
            // Only what certainly did not happen is asked for again.
            switch before?.last {
            case .extended: return ExtendedSubscription(id: id, days: days, endsAt: nil)
            case .failed, .refused: break
            case .asked, .unknown, nil: throw .outcomeUnknown(Self.howToLook)
            }
        }
        let request = RenewalExtension(
            environment: record.environment, bundleID: bundle, originalTransactionID: record.original, days: days,
            reason: reason, request: resumed ?? ids.make(Request.self).rawValue)
        let cause = AuditContext(actor: context.actor, requestID: context.requestID)
        try await keepIntent(request, record, isNew: resumed == nil, context: context)
        // A client who hangs up cuts neither the call nor the record of its end.
        let end = await calls.perform { () async -> Result<Timestamp?, GatewayError> in
            do throws(GatewayError) {
                return .success(try await self.call(provider, request, record, cause: cause))
            } catch {
                return .failure(error)
            }
        }
        return ExtendedSubscription(id: id, days: days, endsAt: try end.get())
    }

    private static let nobodyToAsk: LocalizedText = "this subscription's account cannot ask its store for an extension"
    private static let howToLook: LocalizedText = """
        the store did not say whether it extended the subscription, and is being asked; look at the subscription's end \
        before another extension, because a second one would count
        """

    private func keepIntent(
        _ request: RenewalExtension, _ record: SubscriptionRecord, isNew: Bool, context: CallContext
    ) async throws(GatewayError) {
        try await settle(AuditContext(actor: context.actor, requestID: context.requestID)) { settlement in
            try settlement.lock(record)
            if isNew { try settlement.tx.bind(context, to: request.request) }
            try settlement.audit(.asked, request, record)
        }
    }

    private func call(
        _ provider: any RenewalExtending, _ request: RenewalExtension, _ record: SubscriptionRecord, cause: AuditContext
    ) async throws(GatewayError) -> Timestamp? {
        let end: Timestamp?
        do throws(ProviderError) {
            end = try await provider.extend(request)
        } catch {
            switch error {
            case .rejected(let reason), .unfit(let reason):
                try await conclude(.refused, request, record, reason, cause: cause)
                throw .conflict(reason: LocalizedText(stringLiteral: reason))
            case .unsupported:
                try await conclude(.refused, request, record, Self.nobodyToAsk.english, cause: cause)
                throw .conflict(reason: Self.nobodyToAsk)
            case .unavailable:
                try await conclude(.failed, request, record, cause: cause)
                throw .providerUnavailable
            case .outcomeUnknown, .unproven:
                try await conclude(.unknown, request, record, cause: cause)
                throw .outcomeUnknown(Self.howToLook)
            }
        }
        try await conclude(.extended, request, record, end.map { "until \($0.rawValue)" } ?? "", cause: cause)
        return end
    }

    private func conclude(
        _ step: ExtensionLog.Step, _ request: RenewalExtension, _ record: SubscriptionRecord, _ words: String = "",
        cause: AuditContext
    ) async throws(GatewayError) {
        try await settle(cause) { settlement in
            try settlement.lock(record)
            try settlement.audit(step, request, record, words)
            if step == .extended || step == .unknown {
                try settlement.tx.subscriptions.setNextCheck(settlement.now, of: record.id)
            }
        }
    }
}

/// How far an earlier run of the same request came, as the audit has it.
private struct ExtensionLog: Sendable {
    enum Step: String, Sendable, CaseIterable {
        case asked = "subscription.extension_asked"
        case extended = "subscription.extended"
        case refused = "subscription.extension_refused"
        /// Nothing happened.
        case failed = "subscription.extension_failed"
        case unknown = "subscription.extension_unknown"
    }

    private static let depth: Int64 = 200

    let last: Step

    init?(_ request: String, of subscription: ID<Subscription>, in db: any Database) throws {
        let entries = try db.audit.list(subject: subscription.rawValue, before: nil, limit: Self.depth)
        let found = entries.lazy.map(\.entry).first { $0.after.hasPrefix("\(request):") }
        guard let step = found.flatMap({ Step(rawValue: $0.action) }) else { return nil }
        last = step
    }
}

extension Settlement {
    /// Two extensions of one subscription write one after the other to its audit.
    fileprivate func lock(_ record: SubscriptionRecord) throws {
        try tx.purchaseOwners.lock(record.environment, record.original)
    }

    fileprivate func audit(
        _ step: ExtensionLog.Step, _ request: RenewalExtension, _ record: SubscriptionRecord, _ words: String = ""
    ) throws {
        let parts = ["\(request.request): \(request.days) days, reason \(request.reason.rawValue)", words]
        try audit(
            subject: record.id.rawValue, step.rawValue, before: "",
            after: parts.filter { !$0.isEmpty }.joined(separator: ", "), about: record.user)
    }
}
