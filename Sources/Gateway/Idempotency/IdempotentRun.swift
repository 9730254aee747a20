package import Domain
import FoundationEssentials
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
    /// The time of the request, at which the lease begins.
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
    var name: String? {
        switch self {
        case .user: nil
        case .session(let session): "\(SessionQueries<any Transaction>.callerPrefix)\(session)"
        case .partner(let partner): "partner/\(partner)"
        }
    }

    /// The stored name; nil for a user who is not stored yet.
    func name(in db: any Database) throws -> String? {
        guard case .user(let user) = self else { return name }
        return try db.users.findID(user)?.rawValue
    }

    /// The stored name; a user who is new is stored.
    func ensureName(
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

extension IdempotentRun {
    /// The caller's stored name; a user who is new is stored.
    ///
    /// - Parameter user: the app's user where the transaction knows it.
    func name(in tx: any Transaction, knowing user: ID<User>? = nil) throws -> String {
        if let holder = progress.holder { return holder }
        guard let unclaimed else { throw GatewayError.internalError }
        if case .user = caller, let user { return user.rawValue }
        return try caller.ensureName(in: tx, candidate: unclaimed.candidate, at: unclaimed.at.business)
    }

    /// The caller's stored name at the end of a run; nil where the user was erased meanwhile, and is not stored again.
    func nameAtEnd(in tx: any Transaction) throws -> String? {
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

    /// Checks that the key of a run which has not claimed it is still unused.
    ///
    /// - Throws: `requestInProgress` where another run has it.
    func requireUnused(_ context: CallContext, by user: ID<User>) throws {
        guard let run = context.idempotency, run.unclaimed != nil, run.progress.holder == nil else { return }
        guard try !idempotencyKeys.exists(run.key, caller: try run.name(in: self, knowing: user)) else {
            throw GatewayError.requestInProgress
        }
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
