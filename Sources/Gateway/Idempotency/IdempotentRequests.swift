import Crypto
package import Domain
package import FoundationEssentials
import Store
import Synchronization

/// A run of a request under an `Idempotency-Key`.
package struct IdempotentRun: Sendable {
    let caller: IdempotentCaller
    package let key: String
    /// The lease of this run; its writes are committed only while it is held.
    let epoch: Int64
    /// The id of the object that an earlier, unfinished run under this key made; this run continues with it.
    package let resource: String?
    /// The request of a run that claims its key when it makes its object; nil where the key was claimed before.
    let unclaimed: UnclaimedRequest?
    /// True where the answer is a payment's contract, which is stored in the transaction that keeps the contract.
    let storesContract: Bool
    package let progress: RunProgress
}

/// A request whose key is claimed in the transaction that makes its object.
struct UnclaimedRequest: Sendable {
    let fingerprint: Data
    let at: ClockReading
    /// The id that the caller gets where the app's user is new.
    let candidate: ID<User>
    /// False where the app's user was not stored when the request came.
    let isCallerKnown: Bool
}

/// The commits of a run so far.
package final class RunProgress: Sendable {
    private let state: Mutex<(holder: String?, isAnswered: Bool)>

    init(holder: String?) { state = Mutex((holder, false)) }

    /// The stored name of the caller after the key was claimed.
    package var holder: String? { state.withLock { $0.holder } }
    /// True after the answer was stored.
    package var isAnswered: Bool { state.withLock { $0.isAnswered } }

    func claimed(by holder: String) { state.withLock { $0.holder = holder } }
    func answered() { state.withLock { $0.isAnswered = true } }
}

/// The namespace of a key: the user, the session, or the partner, for all of its API keys.
package enum IdempotentCaller: Sendable {
    case user(ExternalUserID)
    case session(ID<Session>)
    case partner(String)

    /// The stored name; nil for the app's user, who has one by its id.
    fileprivate var name: String? {
        switch self {
        case .user: nil
        case .session(let session): "\(SessionQueries<any Transaction>.callerPrefix)\(session)"
        case .partner(let partner): "partner/\(partner)"
        }
    }

    /// The stored name; nil for a user who is not stored yet.
    fileprivate func name(in db: any Database) throws -> String? {
        guard case .user(let user) = self else { return name }
        return try db.users.findID(user)?.rawValue
    }

    /// The stored name; a user who is new is stored.
    fileprivate func ensureName(
        in tx: any Transaction, candidate: ID<User>, at now: Timestamp
    ) throws -> String {
        if let name { return name }
        guard case .user(let user) = self else { throw GatewayError.internalError }
        return try tx.users.ensure(user, candidate: candidate, at: now).rawValue
    }
}

/// The time at which a run claims its key.
package enum KeyClaim: Sendable {
    /// Before the use case runs.
    case first
    /// In the transaction that makes the use case's object, which is the first effect of the use case.
    case withObject
}

/// The beginning of a request with an `Idempotency-Key`: a run, or the answer of an earlier one.
package enum IdempotentStart: Sendable {
    case run(IdempotentRun)
    case replay(status: Int, answer: Data)
}

/// Requests with an `Idempotency-Key`: each key runs once, and its answer is stored.
package struct IdempotentRequests: Sendable {
    let store: StoreAccess
    let keyRing: KeyRing
    let ids: IDSource
    let random: RandomSource
    let time: BusinessTime

    /// The seconds for which the key of a crashed run stays blocked.
    fileprivate static let lease: Int64 = 60

    /// Claims the key, or finds the stored answer.
    ///
    /// - Parameters:
    ///   - request: the parts that identify a request: method, path and body, JSON in its canonical form.
    ///   - asItCame: the same parts with the body byte for byte, as earlier releases compared it.
    ///   - claim: the time of the claim; a key that was used before is claimed at once.
    ///   - storesContract: true where the answer is a payment's contract, stored together with it.
    /// - Throws: `requestInProgress` while another run holds the key, `idempotencyKeyReused` for a different request,
    ///   `notFound` where the answer was about a user who has been erased.
    package func begin(
        key: String, caller: IdempotentCaller, request: [Data], orAsItCame asItCame: [Data]? = nil,
        claim: KeyClaim = .first, storesContract: Bool = false
    ) async throws(GatewayError) -> IdempotentStart {
        let fingerprint = Self.fingerprint(request)
        let earlier = asItCame.map(Self.fingerprint)
        let (now, candidate) = (time.reading, ids.make(User.self))
        if claim == .withObject {
            let (isCallerKnown, isUsed) = try await find(key, of: caller)
            let unclaimed = UnclaimedRequest(
                fingerprint: fingerprint, at: now, candidate: candidate, isCallerKnown: isCallerKnown)
            guard isUsed else {
                return .run(
                    IdempotentRun(
                        caller: caller, key: key, epoch: randomEpoch(), resource: nil, unclaimed: unclaimed,
                        storesContract: storesContract, progress: RunProgress(holder: nil)))
            }
        }
        let (name, result) = try await store.write { tx in
            let name = try caller.ensureName(in: tx, candidate: candidate, at: now.business)
            return (
                name,
                try tx.idempotencyKeys.claim(
                    key, caller: name, fingerprint: fingerprint, orEarlier: earlier, at: now.real, lease: Self.lease)
            )
        }
        switch result {
        case .run(let epoch, let resource):
            return .run(
                IdempotentRun(
                    caller: caller, key: key, epoch: epoch, resource: resource, unclaimed: nil,
                    storesContract: storesContract, progress: RunProgress(holder: name)))
        case .running: throw .requestInProgress
        case .reused: throw .idempotencyKeyReused
        case .replay(_, let sealed) where sealed.isEmpty:
            // The answer was about a user who has been erased since.
            throw .notFound
        case .replay(let status, let sealed):
            guard let answer = Self.open(sealed, name, key, by: keyRing) else { throw .internalError }
            return .replay(status: Int(status), answer: answer)
        }
    }

    private func find(
        _ key: String, of caller: IdempotentCaller
    ) async throws(GatewayError) -> (isCallerKnown: Bool, isUsed: Bool) {
        try await store.read { db in
            guard let name = try caller.name(in: db) else { return (false, false) }
            return (true, try db.idempotencyKeys.exists(key, caller: name))
        }
    }

    /// The number of a lease that no other run has, so that a run which has not claimed its key cannot end the lease of
    /// one that has; leases of the same key that follow count on from it.
    private func randomEpoch() -> Int64 {
        random.bytes(7).reduce(0 as Int64) { $0 << 8 | Int64($1) }
    }

    private static func fingerprint(_ request: [Data]) -> Data {
        var hash = SHA256()
        for part in request {
            hash.update(data: Data("\(part.count):".utf8))
            hash.update(data: part)
        }
        return Data(hash.finalize())
    }

    /// Stores the answer, which a repetition of the request gets.
    package func finish(_ run: IdempotentRun, status: Int, answer: Data) async throws(GatewayError) {
        let keyRing = keyRing
        try await store.write { tx in
            guard let name = try run.nameAtEnd(in: tx) else { return }
            let sealed = try Self.seal(answer, of: run, name, by: keyRing)
            if run.progress.holder == nil, let unclaimed = run.unclaimed {
                try tx.idempotencyKeys.insertFinished(
                    run.key, caller: name, fingerprint: unclaimed.fingerprint, epoch: run.epoch, status: Int64(status),
                    answer: sealed, at: unclaimed.at.real)
            } else {
                try tx.idempotencyKeys.finish(
                    run.key, caller: name, epoch: run.epoch, status: Int64(status), answer: sealed)
            }
        }
    }

    /// Ends a run without storing its answer.
    package func release(_ run: IdempotentRun) async throws(GatewayError) {
        try await store.write { tx in
            guard let name = try run.progress.holder ?? run.caller.name(in: tx) else { return }
            try tx.idempotencyKeys.release(run.key, caller: name, epoch: run.epoch)
        }
    }

    fileprivate static func seal(
        _ answer: Data, of run: IdempotentRun, _ name: String, by keyRing: KeyRing
    ) throws -> Data {
        guard let sealed = try? keyRing.seal(answer, context: place(name, StoredKey.of(run.key, caller: name))) else {
            throw GatewayError.internalError
        }
        return sealed
    }

    /// - Parameter key: the key as it is stored, because a resealing knows no other.
    static func place(_ caller: String, _ key: String) -> String { "idempotency_keys/\(caller)/\(key)" }

    private static func open(_ sealed: Data, _ name: String, _ key: String, by keyRing: KeyRing) -> Data? {
        // An earlier release sealed an answer for the caller's own key.
        (try? keyRing.open(sealed, context: place(name, StoredKey.of(key, caller: name))))
            ?? (try? keyRing.open(sealed, context: place(name, key)))
    }
}

extension IdempotentRun {
    /// The caller's stored name; a user who is new is stored.
    ///
    /// - Parameter user: the app's user where the transaction knows it.
    fileprivate func name(in tx: any Transaction, knowing user: ID<User>? = nil) throws -> String {
        if let holder = progress.holder { return holder }
        guard let unclaimed else { throw GatewayError.internalError }
        if case .user = caller, let user { return user.rawValue }
        return try caller.ensureName(in: tx, candidate: unclaimed.candidate, at: unclaimed.at.business)
    }
}

extension IdempotentRun {
    /// The caller's stored name at the end of a run; nil where the user was erased meanwhile, and is not stored again.
    fileprivate func nameAtEnd(in tx: any Transaction) throws -> String? {
        guard progress.holder == nil, unclaimed?.isCallerKnown == true else { return try name(in: tx) }
        return try caller.name(in: tx)
    }
}

extension Transaction {
    /// Binds an object to the key of the run that makes it, in the same transaction; a key that is not claimed yet is
    /// claimed for the object.
    ///
    /// - Parameter user: the user of the order where the transaction knows it.
    /// - Returns: the holder of a key that was claimed here, for ``RunProgress/claimed(by:)`` after the commit.
    /// - Throws: `requestInProgress` where another run has the key; then nothing of this transaction is committed.
    @discardableResult
    func bind(_ context: CallContext, to resource: String, of user: ID<User>? = nil) throws -> String? {
        guard let run = context.idempotency else { return nil }
        let name = try run.name(in: self, knowing: user)
        if run.progress.holder == nil, let unclaimed = run.unclaimed {
            let isClaimed = try idempotencyKeys.claim(
                run.key, caller: name, fingerprint: unclaimed.fingerprint, epoch: run.epoch, resource: resource,
                at: unclaimed.at.real, lease: IdempotentRequests.lease)
            guard isClaimed else { throw GatewayError.requestInProgress }
            return name
        }
        guard try idempotencyKeys.bind(run.key, caller: name, epoch: run.epoch, resource: resource) else {
            throw GatewayError.requestInProgress
        }
        return nil
    }

    /// Binds the key to an object that replaces the first one, which renews the run's lease.
    ///
    /// - Parameter now: the real time.
    /// - Throws: `requestInProgress` as ``bind(_:to:)``.
    func rebind(_ context: CallContext, to resource: String, at now: Timestamp) throws {
        guard let run = context.idempotency else { return }
        let isHeld = try idempotencyKeys.rebind(
            run.key, caller: try run.name(in: self), epoch: run.epoch, resource: resource, at: now,
            lease: IdempotentRequests.lease)
        guard isHeld else { throw GatewayError.requestInProgress }
    }

    /// Stores a contract as the answer of the run that made it, in the transaction that keeps the contract.
    ///
    /// - Returns: true where the run's answer is the contract.
    func finish(_ context: CallContext, with contract: PaymentContract, sealedBy keyRing: KeyRing) throws -> Bool {
        guard let run = context.idempotency, run.storesContract else { return false }
        let name = try run.name(in: self)
        let sealed = try IdempotentRequests.seal(JSONText.encoded(contract), of: run, name, by: keyRing)
        return try idempotencyKeys.finish(run.key, caller: name, epoch: run.epoch, status: 200, answer: sealed)
    }
}
