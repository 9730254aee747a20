import Crypto
package import Domain
package import FoundationEssentials
import Store

/// A run of a request under an `Idempotency-Key`.
package struct IdempotentRun: Sendable {
    package let caller: String
    package let key: String
    /// The lease of this run; its writes are committed only while it is held.
    let epoch: Int64
    /// The id of the object that an earlier, unfinished run under this key made; this run continues with it.
    package let resource: String?
}

/// The namespace of a key: the user, the session, or the partner, for all of its API keys.
package enum IdempotentCaller: Sendable {
    case user(ExternalUserID)
    case session(ID<Session>)
    case partner(String)
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
    let time: BusinessTime

    /// The seconds for which the key of a crashed run stays blocked.
    fileprivate static let lease: Int64 = 60

    /// Claims the key, or finds the stored answer.
    ///
    /// - Parameters:
    ///   - request: the parts that identify a request: method, path and body, JSON in its canonical form.
    ///   - asItCame: the same parts with the body byte for byte, as earlier releases compared it.
    /// - Throws: `requestInProgress` while another run holds the key, `idempotencyKeyReused` for a different request,
    ///   `notFound` where the answer was about a user who has been erased.
    package func begin(
        key: String, caller: IdempotentCaller, request: [Data], orAsItCame asItCame: [Data]? = nil
    ) async throws(GatewayError) -> IdempotentStart {
        let fingerprint = Self.fingerprint(request)
        let earlier = asItCame.map(Self.fingerprint)
        let (ids, now) = (ids, time.reading)
        let (caller, claim) = try await store.write { tx in
            let name =
                switch caller {
                case .user(let user): try tx.users.ensure(user, candidate: ids.make(), at: now.business).rawValue
                case .session(let session): "\(SessionQueries<any Transaction>.callerPrefix)\(session)"
                case .partner(let partner): "partner/\(partner)"
                }
            return (
                name,
                try tx.idempotencyKeys.claim(
                    key, caller: name, fingerprint: fingerprint, orEarlier: earlier, at: now.real, lease: Self.lease)
            )
        }
        switch claim {
        case .run(let epoch, let resource):
            return .run(IdempotentRun(caller: caller, key: key, epoch: epoch, resource: resource))
        case .running: throw .requestInProgress
        case .reused: throw .idempotencyKeyReused
        case .replay(_, let sealed) where sealed.isEmpty:
            // The answer was about a user who has been erased since.
            throw .notFound
        case .replay(let status, let sealed):
            guard let answer = try? keyRing.open(sealed, context: Self.place(caller, key)) else { throw .internalError }
            return .replay(status: Int(status), answer: answer)
        }
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
        guard let sealed = try? keyRing.seal(answer, context: Self.place(run.caller, run.key)) else {
            throw .internalError
        }
        try await store.write { tx in
            try tx.idempotencyKeys.finish(
                run.key, caller: run.caller, epoch: run.epoch, status: Int64(status), answer: sealed)
        }
    }

    /// Ends a run without storing its answer.
    package func release(_ run: IdempotentRun) async throws(GatewayError) {
        try await store.write { tx in try tx.idempotencyKeys.release(run.key, caller: run.caller, epoch: run.epoch) }
    }

    private static func place(_ caller: String, _ key: String) -> String { "idempotency_keys/\(caller)/\(key)" }
}

extension Transaction {
    /// Binds an object to the key of the run that makes it, in the same transaction.
    ///
    /// - Throws: `requestInProgress` where another run has taken over the key; then nothing of this transaction is
    ///   committed.
    func bind(_ context: CallContext, to resource: String) throws {
        guard let run = context.idempotency else { return }
        guard try idempotencyKeys.bind(run.key, caller: run.caller, epoch: run.epoch, resource: resource) else {
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
            run.key, caller: run.caller, epoch: run.epoch, resource: resource, at: now, lease: IdempotentRequests.lease)
        guard isHeld else { throw GatewayError.requestInProgress }
    }
}
