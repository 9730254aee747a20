public import Foundation

/// The entitlements of the user who is logged in: live from the server, and offline from the last signed snapshot.
public actor EntitlementStore {
    /// News of orders from the stream.
    public struct OrderNews: Sendable, Equatable {
        public let id: String
        public let status: String
    }

    public nonisolated let desk: Paydesk
    /// The seconds after the next known change for which the state before it is believed offline.
    public nonisolated let tolerance: Int64
    private let reader: SnapshotReader
    private let files: DurableFolder
    private var user: String?
    private var keys = SnapshotKeys(keys: [])
    private var kept: EntitlementSnapshot?
    private var listeners: [UUID: AsyncStream<EntitlementSnapshot>.Continuation] = [:]
    private var orderListeners: [UUID: AsyncStream<OrderNews>.Continuation] = [:]
    private var wakes = 0
    private var endWait: @Sendable () -> Void = {}

    /// - Parameters:
    ///   - issuer: the server's `public_url`; nil where it is the client's address.
    ///   - tolerance: seconds; the server's own bound, the end of the snapshot, holds in any case.
    public init(
        desk: Paydesk, verifier: any SnapshotVerifier, issuer: String? = nil, tolerance: Int64 = 86_400
    ) {
        self.desk = desk
        self.tolerance = tolerance
        reader = SnapshotReader(issuer: issuer ?? desk.baseURL.absoluteString, verifier: verifier)
        files = DurableFolder(url: desk.folder.appendingPathComponent("entitlements"))
    }

    /// The last snapshot of the user who is logged in, from memory or from the disk; nil where there is none.
    public func current() async -> EntitlementSnapshot? {
        guard let login = try? await desk.login() else { return nil }
        load(login.user)
        return kept
    }

    /// Returns true while the user is a member, also offline.
    public func isActive(at date: Date? = nil) async -> Bool {
        await current()?.isActive(at: seconds(date), tolerance: tolerance) ?? false
    }

    /// Returns true while the user owns a SKU, also offline.
    public func owns(_ sku: String, at date: Date? = nil) async -> Bool {
        await current()?.owns(sku, at: seconds(date), tolerance: tolerance) ?? false
    }

    /// The snapshots of the user, the present one first; ``run()`` brings the next ones.
    public func snapshots() async -> AsyncStream<EntitlementSnapshot> {
        let present = await current()
        let id = UUID()
        return AsyncStream { continuation in
            if let present { continuation.yield(present) }
            listeners[id] = continuation
            continuation.onTermination = { _ in Task { await self.forget(id) } }
        }
    }

    /// News of the user's orders, while ``run()`` runs.
    public func orders() -> AsyncStream<OrderNews> {
        let id = UUID()
        return AsyncStream { continuation in
            orderListeners[id] = continuation
            continuation.onTermination = { _ in Task { await self.forget(id) } }
        }
    }

    /// Asks the server now, verifies the answer and keeps it.
    ///
    /// - Returns: the newest snapshot, which is the kept one where the answer is older.
    /// - Throws: a ``PaydeskError`` or a ``SnapshotRefusal``; the kept snapshot stays.
    @discardableResult
    public func refresh() async throws -> EntitlementSnapshot {
        let login = try await desk.login()
        load(login.user)
        let text = try await desk.snapshot()
        let now = desk.time.now()
        let snapshot: EntitlementSnapshot
        do { snapshot = try reader.read(text, user: login.user, keys: keys, now: now) } catch SnapshotRefusal.unknownKey
        {
            let published = try await desk.signingKeys()
            snapshot = try reader.read(text, user: login.user, keys: published, now: now)
            try? files.write(try JSONEncoder().encode(published), to: "keys.json")
            keys = published
        }
        guard user == login.user else { throw SnapshotRefusal.user }
        if let kept, !snapshot.isNewer(than: kept) { return kept }
        kept = snapshot
        try? files.write(Data(text.utf8), to: Self.file(login.user))
        for listener in listeners.values { listener.yield(snapshot) }
        return snapshot
    }

    /// Begins anew at once: after a login or logout, and when the app comes back.
    public func retryNow() {
        wakes += 1
        endWait()
    }

    /// Follows the stream, and asks every minute where it cannot be had, until the task is cancelled.
    public func run() async {
        var failures: Int64 = 0
        while !Task.isCancelled {
            let seen = wakes
            let end = await during(seen) { await self.follow() }
            guard wakes == seen, end != .expired else {
                failures = 0
                continue
            }
            failures = end == .refused ? failures + 1 : 0
            await during(seen) { [time = desk.time, failures] in
                // 3 seconds are the stream's own `retry`.
                _ = try? await time.sleep(min(60, 3 << min(failures, 5)))
            }
        }
    }

    private enum End: Sendable {
        /// The stream was there, and ended.
        case lost
        /// The same, because the user's token ended.
        case expired
        case refused
    }

    /// Runs a task that ``retryNow()`` ends.
    @discardableResult
    private func during<Value: Sendable>(
        _ seen: Int, _ body: @escaping @Sendable () async -> Value
    ) async -> Value? {
        guard wakes == seen else { return nil }
        let task = Task { await body() }
        endWait = { task.cancel() }
        return await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }

    private func follow() async -> End {
        // The stream may be refused, so the answer is asked for in any case.
        guard (try? await refresh()) != nil, let stream = try? await desk.stream() else { return .refused }
        var (events, isOpen) = (ServerEventReader(), false)
        do {
            for try await piece in stream {
                isOpen = true
                for event in events.read(piece) {
                    switch event {
                    case .entitlements(let version):
                        // Time alone can change the answer without a new version, so that an equal one counts too.
                        if version >= kept?.entitlements.version ?? 0 { try await refresh() }
                    case .order(let id, let status):
                        for listener in orderListeners.values { listener.yield(OrderNews(id: id, status: status)) }
                    case .bye("expired"): return .expired
                    case .bye("shutdown"): return .lost
                    case .bye: return .refused
                    }
                }
            }
        } catch {}
        return isOpen ? .lost : .refused
    }

    /// Reads the user's files, once for each change of the user.
    private func load(_ user: String) {
        guard self.user != user else { return }
        self.user = user
        kept = nil
        if let content = try? files.read("keys.json"),
            let keys = try? JSONDecoder().decode(SnapshotKeys.self, from: content)
        {
            self.keys = keys
        }
        guard let content = try? files.read(Self.file(user)) else { return }
        let text = String(decoding: content, as: UTF8.self)
        kept = try? reader.read(text, user: user, keys: keys, now: desk.time.now())
    }

    private static func file(_ user: String) -> String { FileNames.digest(user) + ".jwt" }

    private func seconds(_ date: Date?) -> Int64 {
        date.map { Int64($0.timeIntervalSince1970) } ?? desk.time.now()
    }

    private func forget(_ listener: UUID) {
        listeners[listener] = nil
        orderListeners[listener] = nil
    }
}

extension Paydesk {
    /// The user's entitlements as a signed text.
    func snapshot() async throws -> String {
        try await trying { token in
            var request = try request("GET", "/v1/public/entitlements", token: token)
            request.headers["Accept"] = "application/jwt"
            let reply = try await transport.send(request)
            guard reply.status == 200 else { throw AnswerReader.refusal(reply) }
            return String(decoding: reply.body, as: UTF8.self)
        }
    }

    /// The server's public keys.
    func signingKeys() async throws -> SnapshotKeys {
        let reply = try await transport.send(try request("GET", "/.well-known/jwks.json", token: nil))
        guard reply.status == 200, let keys = try? JSONDecoder().decode(SnapshotKeys.self, from: reply.body) else {
            throw AnswerReader.refusal(reply)
        }
        return keys
    }

    /// The live stream of the user.
    func stream() async throws -> AsyncThrowingStream<Data, any Error> {
        var request = try request("GET", "/v1/public/stream", token: try await login().token)
        request.headers["Accept"] = "text/event-stream"
        return transport.stream(request)
    }
}
