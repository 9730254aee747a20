package import AppStoreBox
package import Domain
import FoundationEssentials
import ProviderKit
import Store

/// The settings of an App Store in a box: its keys, its account and its products.
package struct BoxSettings: Sendable {
    package let signing: BoxSigning
    /// The account whose notify URL gets the notifications; nil where none sells in the App Store.
    package let account: AccountID?
    /// The products of a StoreKit configuration file; nil for those of the catalogue.
    package let products: [BoxProduct]?

    package init(signing: BoxSigning, account: AccountID?, products: [BoxProduct]? = nil) {
        self.signing = signing
        self.account = account
        self.products = products
    }
}

/// The App Store in a box of this server: stores what is done in it, and sends its notifications to an account's inbox.
///
/// An act is one transaction under the lock of the box's row, so that acts follow each other on every node. Its
/// notifications are sent after the commit; a process that ends in between leaves them due, and
/// ``runDue()`` of any node sends them.
package struct BoxedAppStore: Sendable {
    /// A result, or the box's own refusal.
    package typealias Outcome<Value> = Result<Value, BoxError>

    let settings: BoxSettings
    let store: StoreAccess
    let notifications: Notifications
    let time: BusinessTime
    let random: RandomSource
    private let turns = BoxTurns()

    init(
        _ settings: BoxSettings, store: StoreAccess, notifications: Notifications, time: BusinessTime,
        random: RandomSource
    ) {
        self.settings = settings
        self.store = store
        self.notifications = notifications
        self.time = time
        self.random = random
    }

    // MARK: Acts

    /// Buys a product.
    package func purchase(
        _ request: BoxPurchaseRequest
    ) async throws(GatewayError) -> Outcome<BoxPurchaseAnswer> {
        let done = try await act { (products) throws(BoxError) in
            try request.need(products)
        } change: { (machine) throws(BoxError) in
            try machine.purchase(request)
        }
        switch done {
        case .failure(let refusal): return .failure(refusal)
        case .success(let acted):
            let (purchase, now) = (acted.result, time.milliseconds())
            let rows = try await transactions(of: purchase.transaction.customer)
            do {
                return .success(
                    BoxPurchaseAnswer(
                        purchase,
                        signedTransaction: try settings.signing.payloads.transaction(purchase.transaction),
                        signedRenewalInfo: try purchase.subscription.map {
                            try settings.signing.payloads.renewalInfo($0)
                        },
                        receipt: try settings.signing.receipts.receipt(of: rows, at: now)))
            } catch {
                throw .internalError
            }
        }
    }

    /// Does an act on a subscription.
    package func act(
        on original: String, _ act: BoxSubscriptionAct
    ) async throws(GatewayError) -> Outcome<BoxActAnswer> {
        try await self.act { (_) throws(BoxError) in
            act.need(original)
        } change: { (machine) throws(BoxError) in
            try machine.act(on: original, act)
        }.map(Self.answer)
    }

    /// Does an act on a transaction.
    package func act(
        onTransaction id: String, _ act: BoxTransactionAct
    ) async throws(GatewayError) -> Outcome<BoxActAnswer> {
        try await self.act { (_) throws(BoxError) in
            .transaction(transactionID: id)
        } change: { (machine) throws(BoxError) in
            try machine.act(onTransaction: id, act)
        }.map(Self.answer)
    }

    private static func answer(_ acted: Acted<BoxDone>) -> BoxActAnswer {
        // Only the list of notifications tells of those that are sent in random order.
        let told = acted.mode == .shuffled ? nil : acted.result.notification.flatMap { acted.attempts[$0.uuid] }
        return BoxActAnswer(acted.result, delivery: told)
    }

    /// Decides how notifications travel from now on.
    package func deliver(_ delivery: BoxMeta.Delivery) async throws(GatewayError) {
        _ = try await act { (_) throws(BoxError) in
            nil
        } change: { (machine) throws(BoxError) in
            machine.deliver(delivery)
        }
    }

    /// Sets Apple's rate limit; nil for none.
    package func limit(perSecond: Int64?) async throws(GatewayError) {
        _ = try await act { (_) throws(BoxError) in
            nil
        } change: { (machine) throws(BoxError) in
            machine.limit(callsPerSecond: perSecond)
        }
    }

    /// Makes a new, empty App Store, whose ids and dates go on from this one's.
    package func reset() async throws(GatewayError) {
        await turns.begin()
        defer { turns.end() }
        let (signer, random) = (settings.signing.payloads, random)
        try await store.write { tx in
            let meta = try BoxRows(tx: tx, signer: signer).lock(random).reset()
            try tx.box.deleteSales()
            try tx.box.updateMeta(data: try BoxJSON.text(meta))
        }
    }

    // MARK: Changes that happen by themselves

    /// Runs what is due, and sends the notifications whose time has come.
    ///
    /// - Parameter patience: the milliseconds for which a due notification is left to the process that stored it.
    /// - Returns: the changes and deliveries; 0 where nothing is due.
    package func runDue(patience: Int64 = 0) async throws(GatewayError) -> Int64 {
        // An act that is under way is sent before: a move of the clock does not pass it.
        await turns.begin()
        defer { turns.end() }
        var count: Int64 = 0
        while true {
            let now = time.milliseconds()
            let due = try await store.read { db in try db.box.nextDue() }
            guard let due, due <= now else { return count }
            let done = try await run(patience: patience) { (_) throws(BoxError) in
                .due(at: now)
            } change: { (machine) throws(BoxError) in
                let isMore = machine.runDue()
                return (isMore, Int64(machine.changes.subscriptions.count + machine.changes.send.count))
            }
            guard case .success(let acted) = done else { return count }
            count += max(1, acted.result.1)
            if !acted.result.0 { return count }
        }
    }

    /// The time until something is due; an hour where nothing will be.
    func timeUntilDue() async throws(GatewayError) -> Duration {
        let due = try await store.read { db in try db.box.nextDue() }
        return due.map { .milliseconds($0 - time.milliseconds()) } ?? .seconds(3_600)
    }

    /// Returns the first time after `time` at which something is due; nil for never.
    func nextDue(after time: Timestamp) async throws(GatewayError) -> Timestamp? {
        let after = time.rawValue * 1_000
        let due = try await store.read { db in try db.box.nextDue(after: after) }
        // The clock stands at whole seconds.
        return due.map { Timestamp(($0 + 999).flooredSeconds) }
    }

    // MARK: One act

    /// An act that is stored and whose notifications were sent.
    struct Acted<Value: Sendable>: Sendable {
        let result: Value
        let mode: BoxMeta.Delivery.Mode
        /// The first attempt to deliver each notification.
        let attempts: [String: BoxNotification.Attempt]
    }

    struct Stored<Value: Sendable>: Sendable {
        let result: Value
        let changes: BoxChanges
        let payloads: [String: String]
    }

    /// Reads the rows of a need, changes them, stores the changes, and sends the notifications.
    ///
    /// - Parameter need: nil where the act only changes the settings.
    func act<Value: Sendable>(
        _ need: @escaping @Sendable ([BoxProduct]) throws(BoxError) -> BoxNeed?,
        change: @escaping @Sendable (inout BoxMachine) throws(BoxError) -> Value
    ) async throws(GatewayError) -> Outcome<Acted<Value>> {
        await turns.begin()
        defer { turns.end() }
        return try await run(need, change: change)
    }

    private func run<Value: Sendable>(
        patience: Int64 = 0, _ need: @escaping @Sendable ([BoxProduct]) throws(BoxError) -> BoxNeed?,
        change: @escaping @Sendable (inout BoxMachine) throws(BoxError) -> Value
    ) async throws(GatewayError) -> Outcome<Acted<Value>> {
        switch try await update(patience: patience, need, change) {
        case .failure(let refusal): return .failure(refusal)
        case .success(let stored):
            let attempts = try await send(stored.changes.send, stored.payloads)
            return .success(
                Acted(result: stored.result, mode: stored.changes.meta.delivery.mode, attempts: attempts))
        }
    }

    func update<Value: Sendable>(
        patience: Int64 = 0, _ need: @escaping @Sendable ([BoxProduct]) throws(BoxError) -> BoxNeed?,
        _ change: @escaping @Sendable (inout BoxMachine) throws(BoxError) -> Value
    ) async throws(GatewayError) -> Outcome<Stored<Value>> {
        let (settings, time, random) = (settings, time, random)
        return try await store.write { tx in
            let rows = BoxRows(tx: tx, signer: settings.signing.payloads)
            let meta = try rows.lock(random)
            let products = try settings.products(tx)
            do {
                let scope =
                    try need(products).map { try rows.scope($0, meta, patience: patience) } ?? BoxScope(meta: meta)
                var machine = BoxMachine(scope, products: products, now: time.milliseconds(), random: random)
                let result = try change(&machine)
                let payloads = try rows.store(machine.changes, knowing: Set(scope.waiting.map(\.uuid)))
                return .success(Stored(result: result, changes: machine.changes, payloads: payloads))
            } catch let refusal as BoxError {
                // A refusal changes nothing.
                return .failure(refusal)
            }
        }
    }

    // MARK: Notifications

    /// Sends notifications in this order, and records the attempts.
    ///
    /// - Returns: the first attempt of each.
    private func send(
        _ uuids: [String], _ payloads: [String: String]
    ) async throws(GatewayError) -> [String: BoxNotification.Attempt] {
        guard !uuids.isEmpty else { return [:] }
        var attempts: [(uuid: String, attempt: BoxNotification.Attempt)] = []
        for uuid in uuids {
            guard let payload = payloads[uuid] else { continue }
            let status = await deliver(payload)
            attempts.append((uuid, BoxNotification.Attempt(at: time.milliseconds(), status: status)))
        }
        let (made, signer, random) = (attempts, settings.signing.payloads, random)
        try await store.write { tx in
            let rows = BoxRows(tx: tx, signer: signer)
            _ = try rows.lock(random)
            try rows.record(made)
        }
        return Dictionary(attempts.map { ($0.uuid, $0.attempt) }) { first, _ in first }
    }

    /// Hands a signed payload to the account's inbox, as the notify URL does.
    ///
    /// - Returns: the HTTP status of the notify URL; nil where no account has one.
    private func deliver(_ payload: String) async -> Int64? {
        guard let account = settings.account, let token = notifications.registry[account]?.notifyToken else {
            return nil
        }
        let notification = RawNotification(
            method: .post, headers: [("content-type", "application/json")],
            body: Data(#"{"signedPayload":"\#(payload)"}"#.utf8))
        do throws(GatewayError) {
            return Int64(try await notifications.receive(token: token, notification).status)
        } catch {
            switch error {
            case .notFound: return 404
            case .invalidNotification: return 400
            case .temporarilyUnavailable: return 503
            default: return 500
            }
        }
    }
}

extension BoxSettings {
    /// Reads what is for sale.
    func products(_ db: any Database) throws -> [BoxProduct] {
        try products ?? BoxProduct.all(of: db.skus.listActive(), bundle: signing.app.bundleID)
    }
}
