import Foundation

/// The queue of App Store transactions: each is written to disk, sent until the server has stored it, then finished.
///
/// Purchases, unfinished transactions and updates all go through it. Begin ``run()`` in the app's first moment.
public actor PurchaseCoordinator<Store: Storefront> {
    public nonisolated let desk: Paydesk
    public nonisolated let storefront: Store
    private let files: PurchaseFiles
    private let step: @Sendable (PurchaseStep) throws -> Void
    private let jitter: @Sendable (Int64) -> Int64
    private var records: [String: PurchaseRecord] = [:]
    private var users: [UUID: String] = [:]
    private var isLoaded = false
    private var running: [String: Task<Handled, Never>] = [:]
    private var listeners: [UUID: AsyncStream<PurchaseEvent>.Continuation] = [:]
    /// The token that the server refused with 401 last; it is not sent again.
    private var refusedToken: String?
    private var wakes = 0
    private var sleeper: Task<Void, Never>?

    private enum Handled {
        case stored(AttachedPurchase?)
        case kept
        case refused(Refusal)
    }

    public init(desk: Paydesk, storefront: Store) {
        self.init(desk: desk, storefront: storefront, jitter: { Int64.random(in: 0...$0) }, step: { _ in })
    }

    /// - Parameters:
    ///   - jitter: a number from 0 to the given one, added to a pause in seconds.
    ///   - step: called at each step; throwing is what a failing disk does.
    package init(
        desk: Paydesk, storefront: Store, jitter: @escaping @Sendable (Int64) -> Int64,
        step: @escaping @Sendable (PurchaseStep) throws -> Void
    ) {
        self.desk = desk
        self.storefront = storefront
        self.jitter = jitter
        self.step = step
        files = PurchaseFiles(desk.folder, step: step)
    }

    /// Takes in what the App Store brings and works through the queue, until the task is cancelled.
    public func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.listen() }
            group.addTask { await self.work() }
        }
    }

    /// News of the queue from now on.
    public func events() -> AsyncStream<PurchaseEvent> {
        let id = UUID()
        return AsyncStream { continuation in
            listeners[id] = continuation
            continuation.onTermination = { _ in Task { await self.forget(id) } }
        }
    }

    /// The purchases that are not finished, by transaction id.
    public func waiting() -> [PurchaseRecord] {
        load()
        return records.values.sorted { $0.transactionID < $1.transactionID }
    }

    /// Sends what waits now instead of later: after a login, and when the network or the app comes back.
    public func retryNow() {
        for id in records.keys where records[id]?.state != .refused { records[id]?.nextAt = 0 }
        wake()
    }

    /// Buys a product for the user who is logged in now.
    ///
    /// - Throws: a ``StorefrontError``, or a ``PaydeskError`` before anything was bought.
    public func purchase(_ productID: String, quantity: Int = 1) async throws -> PurchaseOutcome {
        let login = try await desk.login()
        let token = try await accountToken(of: login)
        return try await purchase(productID, quantity: quantity, token: token, user: login.user)
    }

    /// Buys the first product of an `appleIAP` contract.
    ///
    /// - Throws: as ``purchase(_:quantity:)``; `notAvailable` for another contract.
    public func purchase(contract: Contract, quantity: Int = 1) async throws -> PurchaseOutcome {
        guard case .appleIAP(let products) = contract.payment, let product = products.productIDs.first else {
            throw StorefrontError.notAvailable
        }
        let login = try await desk.login()
        remember(products.appAccountToken, of: login.user)
        return try await purchase(product, quantity: quantity, token: products.appAccountToken, user: login.user)
    }

    /// Attaches everything that the App Store says this customer has.
    public func restore() async throws -> RestoredPurchases {
        try await storefront.sync()
        retryNow()
        return try await desk.restore(await storefront.currentEntitlements().map(\.jws))
    }

    private func purchase(
        _ product: String, quantity: Int, token: UUID, user: String
    ) async throws -> PurchaseOutcome {
        load()
        switch try await storefront.purchase(product, appAccountToken: token, quantity: quantity) {
        case .cancelled: return .cancelled
        case .pending: return .pending
        case .purchased(let transaction):
            take(transaction, user: user)
            return switch await handle(transaction.id) {
            case .stored(let attached): .purchased(attached)
            case .kept: .kept
            case .refused(let refusal): .refused(refusal)
            }
        }
    }

    // MARK: What comes in

    private func listen() async {
        for await transaction in storefront.updates() { take(transaction, user: nil) }
    }

    /// Writes a transaction down, unless it is there already with the same signature.
    ///
    /// - Parameter user: the buyer, where this device knows; else the one whose `appAccountToken` it has.
    private func take(_ transaction: StoreTransaction, user: String?) {
        load()
        let old = records[transaction.id]
        var record = old ?? PurchaseRecord(transaction, user: nil)
        record.user = record.user ?? user ?? transaction.appAccountToken.flatMap { users[$0] }
        if record.jws != transaction.jws {
            // Apple signed it again: a refund, for example.
            record.jws = transaction.jws
            (record.state, record.nextAt) = (.waiting, 0)
        }
        if record != old { save(record) }
        wake()
    }

    private func load() {
        guard !isLoaded else { return }
        isLoaded = true
        users = files.users()
        guard let loaded = try? files.load() else { return }
        for name in loaded.unreadable { tell(.unreadable(file: name)) }
        for var record in loaded.records {
            if record.state == .refused { (record.state, record.nextAt) = (.waiting, 0) }
            // After a clock was set back it would wait for long.
            record.nextAt = min(record.nextAt, desk.time.now() + 3_600)
            records[record.transactionID] = record
        }
    }

    /// The token that names this user to the App Store; the known one where the server does not answer.
    private func accountToken(of login: Login) async throws -> UUID {
        load()
        do {
            // The customer waits for Apple's sheet meanwhile.
            let status: MembershipStatus = try await desk.call("GET", "/v1/public/iap/apple/status", patience: 4)
            let token = status.appAccountToken
            // Another user may have logged in meanwhile.
            guard try await desk.login().user == login.user else { throw PaydeskError.loggedOut }
            remember(token, of: login.user)
            return token
        } catch let error as PaydeskError where error.isTemporary {
            guard let known = users.first(where: { $0.value == login.user }) else { throw error }
            return known.key
        }
    }

    private func remember(_ token: UUID, of user: String) {
        load()
        guard users[token] != user else { return }
        users = users.filter { $0.value != user }
        users[token] = user
        try? files.save(users: users)
    }

    // MARK: The work

    private func work() async {
        load()
        for transaction in await storefront.unfinished() { take(transaction, user: nil) }
        while !Task.isCancelled {
            let (seen, now) = (wakes, desk.time.now())
            let open = records.values.filter { $0.state != .refused }
            for id in open.filter({ $0.nextAt <= now }).map(\.transactionID).sorted() where !Task.isCancelled {
                _ = await handle(id)
            }
            guard wakes == seen else { continue }
            let next = records.values.filter { $0.state != .refused }.map(\.nextAt).min()
            await pause(max(1, (next ?? .max) - desk.time.now()))
        }
    }

    private func pause(_ seconds: Int64) async {
        let time = desk.time
        let task = Task { _ = try? await time.sleep(min(seconds, 3_600)) }
        sleeper = task
        await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }

    private func wake() {
        wakes += 1
        sleeper?.cancel()
    }

    /// Brings one purchase forward; two callers at once share one attempt.
    private func handle(_ id: String) async -> Handled {
        if let task = running[id] { return await task.value }
        let task = Task { await self.attempt(id) }
        running[id] = task
        let handled = await task.value
        running[id] = nil
        return handled
    }

    private func attempt(_ id: String) async -> Handled {
        var handled = Handled.stored(nil)
        switch records[id]?.state {
        case .waiting: handled = await send(id)
        case .refused: return .kept
        case .stored, nil: break
        }
        guard let record = records[id], record.state == .stored else { return handled }
        do {
            try? step(.finishing)
            try await storefront.finish(id)
            try? step(.finished)
        } catch {
            again(id, "not_finished", after: nil)
            return handled
        }
        // A newer signature that came meanwhile goes its own way.
        guard records[id]?.jws == record.jws else { return handled }
        records[id] = nil
        try? files.remove(record)
        try? step(.removed)
        tell(.finished(transactionID: id))
        return handled
    }

    private func send(_ id: String) async -> Handled {
        guard let login = try? await desk.login() else { return again(id, "logged_out", after: nil) }
        guard var record = records[id], record.state == .waiting else { return .kept }
        if record.user == nil {
            record.user = login.user
            save(record)
        }
        guard record.user == login.user else { return again(id, "another_user", after: nil) }
        guard login.token != refusedToken else { return again(id, ErrorID.unauthenticated.rawValue, after: nil) }
        do {
            try? step(.sending)
            let attached = try await desk.attach(record.jws, transaction: id, login: login)
            try? step(.answered)
            return decided(record, .stored, .stored(attached), reason: nil)
        } catch PaydeskError.refused(let refusal) where !PaydeskError.refused(refusal).isTemporary {
            try? step(.answered)
            if refusal.status == 401 {
                refusedToken = login.token
                return again(id, refusal.id, after: refusal.retryAfter)
            }
            if [.unknownProduct, .purchaseRevoked].contains(refusal.error) {
                return decided(record, .stored, .stored(nil), reason: refusal.id)
            }
            return decided(record, .refused, .refused(refusal), reason: refusal.id)
        } catch {
            let error = error as? PaydeskError
            let reason = if case .refused(let refusal)? = error { refusal.id } else { "no_answer" }
            return again(id, reason, after: error?.retryAfter)
        }
    }

    /// Writes down the server's decision about what was sent.
    private func decided(
        _ sent: PurchaseRecord, _ state: PurchaseRecord.State, _ handled: Handled, reason: String?
    ) -> Handled {
        guard var record = records[sent.transactionID] else { return handled }
        guard record.jws == sent.jws else {
            wake()
            return handled
        }
        (record.state, record.reason, record.nextAt) = (state, reason, 0)
        save(record)
        switch handled {
        case .stored(let attached): tell(.stored(record, attached))
        case .refused(let refusal): tell(.refused(record, refusal))
        case .kept: break
        }
        return handled
    }

    /// Waits before the next try: as long as the server asks, else 1, 2, 4 … 300 seconds and a part of it more.
    @discardableResult
    private func again(_ id: String, _ reason: String, after seconds: Int64?) -> Handled {
        guard var record = records[id] else { return .kept }
        let pause = min(300, Int64(1) << min(Int64(record.tries), 9))
        record.tries += 1
        record.reason = reason
        record.nextAt = desk.time.now() + max(1, seconds ?? (pause + jitter(pause / 4)))
        save(record)
        tell(.kept(record))
        return .kept
    }

    // MARK: Files and news

    /// Keeps a record; where the disk takes nothing it goes on in memory, and the App Store still has the transaction.
    private func save(_ record: PurchaseRecord) {
        records[record.transactionID] = record
        do { try files.save(record) } catch { tell(.notWritten(record, error.localizedDescription)) }
    }

    private func tell(_ event: PurchaseEvent) { for listener in listeners.values { listener.yield(event) } }

    private func forget(_ listener: UUID) { listeners[listener] = nil }
}
