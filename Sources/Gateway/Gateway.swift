package import AppStoreBox
package import Domain
package import Logging
package import ProviderKit
package import Store

/// The composition of the use cases: each subject is a type of its own, with only the dependencies that it needs.
package final class Gateway: Sendable {
    package let store: Store
    package let registry: ProviderRegistry
    package let keyRing: KeyRing
    /// The clock of what is sold; its `real` is the clock of leases, ids, signatures and limits.
    package let time: BusinessTime
    /// The position of business time that this node knows.
    package let clock: NodeClock
    package let clockFollower: ClockFollower
    package let random: RandomSource
    package let ids: IDSource
    package let calls: ProviderCalls
    package let webhookTransport: any WebhookTransport
    package let settings: GatewaySettings
    package let logger: Logger
    /// Sleeps; returns at once when its task is cancelled.
    package let pause: @Sendable (Duration) async -> Void
    /// Wakes this node's workers.
    package let signals = JobSignals()
    /// True where only this process writes, so that its commits tell when to look for what is due.
    let knowsDueTimes: Bool

    let access: StoreAccess
    let providers: ProviderCalling
    let settlements: SettlementRunner
    let lines: RepeatedLines

    package let accounts: Accounts
    /// The App Store in a box of this server; nil for none.
    package let appStore: BoxedAppStore?
    /// Apple's server API of that box, with one rate limit for this process.
    package let appStoreAPI: ServerAPI?
    package let applePaySessions: ApplePaySessions
    package let attention: Attention
    package let auditLog: AuditLog
    package let cashier: Cashier
    package let consoleSessions: ConsoleSessions
    package let contracts: Contracts
    let deliveries: Deliveries
    package let disputes: Disputes
    package let events: Events
    package let externalPurchases: ExternalPurchases
    let externalReporting: ExternalReporting
    package let health: NodeHealth
    package let idempotency: IdempotentRequests
    package let jobQueue: JobQueue
    package let jobs: Jobs
    package let keys: APIKeys
    package let configuredMeters: ConfiguredMeters
    package let meters: UsageMeters
    let appTransactions: AppTransactions
    package let signedOffers: SignedOffers
    package let mismatches: Mismatches
    package let notifications: Notifications
    package let orderClosing: OrderClosing
    package let orders: Orders
    let paymentAttempts: PaymentAttempts
    let paymentOpening: PaymentOpening
    package let payerAuthorizations: PayerAuthorizations
    package let payPages: PayPages
    package let people: People
    package let portal: Portal
    package let reconciliation: Reconciliation
    package let billingHold: BillingHolds
    package let priceAnnouncements: PriceAnnouncements
    package let subscriptionImport: SubscriptionImport
    package let subscriptionList: SubscriptionList
    let mandateSetups: MandateSetups
    let renewals: Renewals
    package let renewalMeter = RenewalMeter()
    package let refunds: Refunds
    package let reports: Reports
    let retention: Retention
    package let search: Search
    package let secrets: SealedSecrets
    package let sessionCheckout: SessionCheckout
    package let sessionReading: SessionReading
    package let sessionRules: SessionRules
    package let sessions: Sessions
    package let tokenPayments: TokenPayments
    package let userNames: UserNames
    package let users: Users
    package let wallets: Wallets
    package let webhooks: Webhooks
    package let webhookTestMessages: WebhookTestMessages
    package let workFinder: WorkFinder

    let consumptionAnswers: ConsumptionAnswers
    package let entitlements: Entitlements
    package let live: LiveStreams
    package let signedSnapshots: SignedSnapshots
    package let grants: Grants
    let notificationSync: NotificationSync
    package let purchaseBacklog: PurchaseBacklog
    package let purchases: Purchases
    package let receipts: Receipts
    package let subscriptionActs: SubscriptionActs
    package let subscriptionExtensions: SubscriptionExtensions
    package let subscriptions: Subscriptions
    let subscriptionSync: SubscriptionSync

    package init(
        store: Store, registry: ProviderRegistry, keyRing: KeyRing, clock: NodeClock, random: RandomSource,
        calls: ProviderCalls, webhooks transport: any WebhookTransport, settings: GatewaySettings, logger: Logger,
        box: BoxSettings? = nil, pause: @escaping @Sendable (Duration) async -> Void
    ) {
        self.store = store
        self.registry = registry
        self.keyRing = keyRing
        let time = clock.time
        self.time = time
        self.clock = clock
        self.random = random
        ids = IDSource(time: time.real, random: random)
        self.calls = calls
        webhookTransport = transport
        self.settings = settings
        self.logger = logger
        self.pause = pause
        let signals = signals
        knowsDueTimes = store.engine.afterChangesOfDueTimes { signals.dueTimes.notify() }
        access = StoreAccess(store, logger: logger, time: time.real)
        providers = ProviderCalling(
            registry: registry, calls: calls,
            load: AccountLoad(registry.accounts.map(\.id), limit: settings.callsPerAccount, time: time.real),
            logger: logger)
        settlements = SettlementRunner(
            store: access, providers: providers, policies: settings.policies, ownership: settings.ownership,
            billing: Billing(settings: settings.billing, secrets: MandateSecrets(keyRing: keyRing)), ids: ids,
            time: time,
            signals: signals)
        lines = RepeatedLines(time: time.real)

        orders = Orders(store: access, time: time)
        auditLog = AuditLog(store: access, time: time, logger: logger)
        events = Events(
            store: access, ids: ids, time: time, signals: signals,
            waits: EventWaits(
                signal: signals.numbered, time: time.real, isShared: store.engine.dialect == .postgres, pause: pause))
        health = NodeHealth(database: store, time: time.real)
        idempotency = IdempotentRequests(store: access, keyRing: keyRing, ids: ids, random: random, time: time)
        let isShared = settings.isDevelopment && store.engine.dialect == .postgres
        clockFollower = ClockFollower(store: access, clock: clock, isShared: isShared)
        jobQueue = JobQueue(
            store: access, calls: calls, time: time, movable: isShared ? clock : nil, pause: pause, logger: logger)
        jobs = Jobs(store: access, settlements: settlements, time: time, signals: signals)
        keys = APIKeys(store: access, settlements: settlements, ids: ids, time: time, random: random)
        consoleSessions = ConsoleSessions(settlements: settlements, keys: keys, random: random, time: time)
        configuredMeters = ConfiguredMeters(settings.meters)
        meters = UsageMeters(store: access, meters: configuredMeters, ids: ids, time: time)
        reports = Reports(store: access, time: time, registry: registry)
        disputes = Disputes(store: access)
        search = Search(store: access)
        portal = Portal(store: access, providers: providers)
        people = People(store: access, meters: configuredMeters, time: time)
        retention = Retention(store: access, policy: settings.retention, time: time, logger: logger)
        secrets = SealedSecrets(store: access, keyRing: keyRing, logger: logger)
        userNames = UserNames(store: access)
        users = Users(settlements: settlements)
        wallets = Wallets(store: access, settlements: settlements, ids: ids)
        workFinder = WorkFinder(
            store: access, registry: registry, ids: ids, time: time, signals: signals,
            renewals: renewalMeter)

        externalPurchases = ExternalPurchases(settlements: settlements)
        externalReporting = ExternalReporting(settlements: settlements, logger: logger)
        accounts = Accounts(store: access, settlements: settlements, providers: providers, logger: logger)
        attention = Attention(store: access, accounts: accounts)
        contracts = Contracts(
            store: access, orders: orders, keyRing: keyRing, publicURL: settings.publicURL, time: time.real)
        paymentAttempts = PaymentAttempts(settlements: settlements)
        paymentOpening = PaymentOpening(settlements: settlements, contracts: contracts, random: random, logger: logger)
        mandateSetups = MandateSetups(settlements: settlements, contracts: contracts, logger: logger)
        billingHold = BillingHolds(settlements: settlements, meter: renewalMeter, logger: logger)
        priceAnnouncements = PriceAnnouncements(settlements: settlements)
        subscriptionImport = SubscriptionImport(settlements: settlements)
        subscriptionList = SubscriptionList(store: access, time: time)
        renewals = Renewals(
            settlements: settlements, attempts: paymentAttempts, meter: renewalMeter, logger: logger)
        cashier = Cashier(
            settlements: settlements, orders: orders, offers: Offers(store: access, accounts: accounts, time: time),
            contracts: contracts, attempts: paymentAttempts, opening: paymentOpening,
            setups: mandateSetups, settings: settings)
        orderClosing = OrderClosing(settlements: settlements, orders: orders, attempts: paymentAttempts)
        sessions = Sessions(
            settlements: settlements, ids: ids, random: random, time: time.real,
            publicURL: settings.publicURL)
        payerAuthorizations = PayerAuthorizations(
            store: access, accounts: accounts, keyRing: keyRing, random: random, publicURL: settings.publicURL,
            time: time.real, logger: logger)
        sessionRules = SessionRules(store: access, registry: registry, settings: settings)
        let sessionOffers = SessionOffers(
            store: access, accounts: accounts, secrets: settlements.billing.secrets, time: time)
        sessionCheckout = SessionCheckout(
            settlements: settlements, cashier: cashier, closing: orderClosing, offers: sessionOffers,
            time: time.real)
        sessionReading = SessionReading(
            store: access, accounts: accounts, contracts: contracts, offers: sessionOffers, settings: settings,
            time: time.real, entitlementTime: time)
        mismatches = Mismatches(settlements: settlements, orders: orders)
        payPages = PayPages(store: access, providers: providers)
        let sending = RefundSending(settlements: settlements)
        refunds = Refunds(settlements: settlements, orders: orders, sending: sending)
        reconciliation = Reconciliation(
            settlements: settlements, orders: orders, attempts: paymentAttempts, closing: orderClosing,
            opening: paymentOpening, sending: sending, setups: mandateSetups)
        let walletPayments = WalletPayments(store: access, registry: registry, contracts: contracts)
        applePaySessions = ApplePaySessions(
            store: access, providers: providers, orders: orders, wallets: walletPayments, time: time)
        tokenPayments = TokenPayments(
            settlements: settlements, orders: orders, wallets: walletPayments, lines: lines, logger: logger)

        notifications = Notifications(
            store: access, settlements: settlements, queue: jobQueue, keyRing: keyRing,
            refused: RefusedNotifications(
                store: access, keyRing: keyRing, accounts: registry.accounts.map(\.id), ids: ids, time: time,
                lines: lines, logger: logger),
            lines: lines, logger: logger)
        appStore = box.map { [access, notifications] in
            BoxedAppStore($0, store: access, notifications: notifications, time: time, random: random)
        }
        appStoreAPI = appStore.map {
            ServerAPI(
                $0.settings.signing, reader: $0, acts: $0,
                clocks: ServerAPI.Clocks(real: time.real, business: time.milliseconds), externalReports: $0)
        }
        webhooks = Webhooks(
            store: access, settlements: settlements, keyRing: keyRing, random: random,
            allowsPrivate: settings.allowsPrivateWebhooks)
        webhookTestMessages = WebhookTestMessages(
            settlements: settlements, keyRing: keyRing, transport: transport,
            allowsPrivate: settings.allowsPrivateWebhooks,
            limiter: RateLimiter(perMinute: WebhookTestMessages.perMinute, nodes: { 1 }, time: time.real))
        deliveries = Deliveries(
            store: access, settlements: settlements, keyRing: keyRing, transport: transport, names: userNames,
            allowsPrivate: settings.allowsPrivateWebhooks, random: random)

        let evidence = EvidenceVerifier(
            registry: registry, keyRing: keyRing, threads: .verification, lines: lines, logger: logger)
        purchases = Purchases(
            store: access, settlements: settlements, evidence: evidence, defaultCurrency: settings.defaultCurrency)
        purchaseBacklog = PurchaseBacklog(settlements: settlements, logger: logger)
        appTransactions = AppTransactions(
            settlements: settlements, keyRing: keyRing, threads: .verification, logger: logger)
        signedOffers = SignedOffers(settlements: settlements, keyRing: keyRing, random: random)
        consumptionAnswers = ConsumptionAnswers(settlements: settlements, logger: logger)
        entitlements = Entitlements(store: access, settlements: settlements, random: random, logger: logger)
        live = LiveStreams(
            store: access, entitlements: entitlements, time: time, clock: isShared ? clock : nil, inbox: signals.live,
            limit: settings.streams, random: random)
        signedSnapshots = SignedSnapshots(
            store: access, settlements: settlements, entitlements: entitlements, keyRing: keyRing, time: time,
            random: random, issuer: settings.publicURL, life: settings.snapshots)
        grants = Grants(settlements: settlements)
        subscriptions = Subscriptions(store: access, time: time)
        subscriptionActs = SubscriptionActs(
            settlements: settlements, setups: mandateSetups, cashier: cashier, refunds: refunds)
        subscriptionExtensions = SubscriptionExtensions(settlements: settlements)
        subscriptionSync = SubscriptionSync(settlements: settlements, evidence: evidence, logger: logger)
        notificationSync = NotificationSync(
            store: access, registry: registry, notifications: notifications, subscriptions: subscriptionSync,
            time: time, logger: logger)
        let receiptReader = ReceiptReader(
            store: access, registry: registry, keyRing: keyRing, threads: .verification, lines: lines, logger: logger)
        let receiptPurchases = ReceiptPurchases(settlements: settlements, reader: receiptReader, evidence: evidence)
        receipts = Receipts(
            store: access, reader: receiptReader, stored: receiptPurchases,
            confirmation: ReceiptConfirmation(
                store: access, reader: receiptReader, purchases: receiptPurchases, time: time, logger: logger),
            purchases: purchases, time: time, logger: logger)
    }

    package var worker: JobWorker { JobWorker(gateway: self) }

    /// Reads and moves business time.
    package var businessClock: BusinessClock {
        let jobs = SteppedJobs(store: access, queue: jobQueue, calls: calls, time: time) { [self] job in
            await worker.perform(job)
        }
        return BusinessClock(
            store: access, settlements: settlements, clock: clock, isMovable: settings.isDevelopment,
            follower: clockFollower, sources: DueSources.all(jobs, registry: registry, box: appStore), pause: pause)
    }
    /// This node's calls to each account.
    package var load: AccountLoad { providers.load }
}

// Store purchases and their entitlements.
extension Gateway {
    package var catalogue: Catalogue {
        Catalogue(store: access, settlements: settlements, accounts: accounts) { [self] audit in
            await purchaseBacklog.grantUnmappedNow(audit)
        }
    }

    package var accountReconciliation: AccountReconciliation {
        AccountReconciliation(
            store: access, settlements: settlements, attempts: paymentAttempts, sending: refunds.sending,
            queue: jobQueue
        ) { [self] (account) async throws(GatewayError) in try await notificationSync.syncAll(account) }
    }
}
