package import Domain
package import Logging
package import ProviderKit
package import Store

/// The use cases, one file each; everything that they need comes in here.
package final class Gateway: Sendable {
    package let store: Store
    package let registry: ProviderRegistry
    package let keyRing: KeyRing
    package let time: TimeSource
    package let random: RandomSource
    package let ids: IDSource
    package let calls: ProviderCalls
    /// This node's calls to each account.
    package let traffic: AccountTraffic
    package let webhooks: any WebhookTransport
    package let settings: GatewaySettings
    package let logger: Logger
    /// Returns after the time, or at once when its task is cancelled.
    package let pause: @Sendable (Duration) async -> Void
    let verification = BackgroundThreads.verification
    let snapshots = AnswersByVersion<EntitlementSnapshot>()
    let statuses = AnswersByVersion<PurchaseStatus>()
    let refusals: RefusalMeter
    let keyUses = KeyUses()
    private let outages: OutageLog
    let lines: RepeatedLines
    let refusalLimits: RefusalLimits
    /// Wakes this node's workers.
    package let signal = JobSignal()
    /// Wakes this node's dispatcher when there may be new events.
    package let outbox = JobSignal()
    /// Wakes this node's deliverers.
    package let deliveries = JobSignal()

    package init(
        store: Store, registry: ProviderRegistry, keyRing: KeyRing, time: TimeSource, random: RandomSource,
        calls: ProviderCalls, webhooks: any WebhookTransport, settings: GatewaySettings, logger: Logger,
        pause: @escaping @Sendable (Duration) async -> Void
    ) {
        self.store = store
        self.registry = registry
        self.keyRing = keyRing
        self.time = time
        self.random = random
        ids = IDSource(time: time, random: random)
        self.calls = calls
        traffic = AccountTraffic(registry.accounts.map(\.id), limit: settings.callsPerAccount, time: time)
        refusals = RefusalMeter(registry.accounts.map(\.id))
        self.webhooks = webhooks
        self.settings = settings
        self.logger = logger
        outages = OutageLog(logger: logger, time: time)
        lines = RepeatedLines(time: time)
        refusalLimits = RefusalLimits(time: time)
        self.pause = pause
    }
}

/// The operator's settings that use cases read.
package struct GatewaySettings: Sendable {
    package var publicURL: String
    package var returnURLs: ReturnURLRules
    package var policies: OrderPolicies
    package var meters: [Meter]
    package var defaultCurrency: Currency?
    /// Development only: webhooks may be http and inside.
    package var allowsPrivateWebhooks: Bool
    /// Development mode: answers tell how payments are routed.
    package var isDevelopment: Bool
    package var retention: RetentionPolicy
    package var ownership: OwnershipRules
    /// How many calls to one account are under way at once on this node; what comes beyond is not sent.
    ///
    /// Half of the requests that are in work at once: an account that hangs leaves the other half to the others, and a
    /// node that is busy itself, where each call takes long, does not mistake that for an account that hangs.
    package var callsPerAccount: Int

    package init(
        publicURL: String, returnURLs: ReturnURLRules, policies: OrderPolicies, meters: [Meter],
        defaultCurrency: Currency? = nil, allowsPrivateWebhooks: Bool = false, isDevelopment: Bool = false,
        retention: RetentionPolicy = RetentionPolicy(), ownership: OwnershipRules = OwnershipRules(),
        callsPerAccount: Int = 256
    ) {
        self.publicURL = publicURL
        self.returnURLs = returnURLs
        self.policies = policies
        self.meters = meters
        self.defaultCurrency = defaultCurrency
        self.allowsPrivateWebhooks = allowsPrivateWebhooks
        self.isDevelopment = isDevelopment
        self.retention = retention
        self.ownership = ownership
        self.callsPerAccount = callsPerAccount
    }
}

/// Who calls, under which request, and the idempotency key that the call runs under.
package struct CallContext: Sendable {
    package let actor: Actor
    package let requestID: String
    package let idempotency: IdempotentRun?
    /// Whether the caller may know how payments are routed.
    package var showsAccounts = false

    package init(actor: Actor, requestID: String, idempotency: IdempotentRun? = nil) {
        self.actor = actor
        self.requestID = requestID
        self.idempotency = idempotency
    }

    /// What an earlier, unfinished run under the same key made.
    var resumed: String? { idempotency?.resource }
}

extension Gateway {
    /// A transaction whose errors are use-case errors; inside a job it counts only while the job's lease is held.
    func write<T: Sendable>(_ body: @escaping @Sendable (any Transaction) throws -> T) async throws(GatewayError) -> T {
        do {
            guard let lease = JobLease.current else { return try await store.write(body) }
            return try await store.write { tx in
                let isHeld = try tx.jobs.isCurrent(lease)
                let result = Result { try body(tx) }
                // Whatever else came of it: without the lease nothing counts.
                guard try isHeld.value() else { throw GatewayError.leaseLost }
                return try result.get()
            }
        } catch {
            throw translate(error)
        }
    }

    /// A snapshot whose errors are use-case errors.
    func read<T: Sendable>(_ body: @escaping @Sendable (any Database) throws -> T) async throws(GatewayError) -> T {
        do { return try await store.read(body) } catch { throw translate(error) }
    }

    /// A snapshot for what may take long, such as a list (``Store/report(_:)``), whose errors are use-case errors.
    ///
    /// - Throws: `temporarilyUnavailable` where too many wait, or where it takes too long.
    func report<T: Sendable>(
        _ body: @escaping @Sendable (any Database) throws -> T
    ) async throws(GatewayError) -> T {
        do { return try await store.report(body) } catch { throw translate(error) }
    }

    /// What the database could not do is tried again by the client; a mistake of ours is logged and shown without detail.
    private func translate(_ error: any Error) -> GatewayError {
        switch error {
        case let error as GatewayError: return error
        case StoreError.unavailable(let reason):
            outages.failed(because: reason)
            return .temporarilyUnavailable(retryAfter: 1)
        case StoreError.outcomeUnknown(let reason), StoreError.failed(let reason):
            logger.warning("the database did not answer", metadata: ["reason": "\(reason)"])
            return .temporarilyUnavailable(retryAfter: 1)
        default:
            logger.error("a use case failed", metadata: ["error": "\(error)"])
            return .internalError
        }
    }
}
