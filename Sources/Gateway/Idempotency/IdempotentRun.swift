import Crypto
package import Domain
package import FoundationEssentials
import Store

/// One run of a request under an `Idempotency-Key`.
package struct IdempotentRun: Sendable {
    package let caller: String
    package let key: String
    /// The lease that this run holds; what it writes counts only while it does.
    let epoch: Int64
    /// What an earlier, unfinished run under this key made; the run goes on with it.
    package let resource: String?
}

/// Whose keys they are: a user's own, or a partner's, whichever of its API keys is used.
package enum IdempotentCaller: Sendable {
    case user(ExternalUserID)
    case partner(String)
}

/// How a request with an `Idempotency-Key` begins.
package enum IdempotentStart: Sendable {
    case run(IdempotentRun)
    case replay(status: Int, answer: Data)
}

extension Gateway {
    /// A crashed run blocks its key for so long.
    fileprivate static let lease: Int64 = 60

    /// Claims the key, or finds the stored answer.
    ///
    /// - Parameters:
    ///   - request: everything that makes two requests the same: method, path and body, JSON in its canonical form.
    ///   - asItCame: the same with the body byte for byte, by which earlier releases compared.
    /// - Throws: `requestInProgress` while another run holds the key, `idempotencyKeyReused` for another request,
    ///   `notFound` where the answer was about a person who has been erased.
    package func beginIdempotent(
        key: String, caller: IdempotentCaller, request: [Data], orAsItCame asItCame: [Data]? = nil
    ) async throws(GatewayError) -> IdempotentStart {
        let fingerprint = Self.fingerprint(request)
        let earlier = asItCame.map(Self.fingerprint)
        let (ids, now) = (ids, time.now)
        let (caller, claim) = try await write { tx in
            let name =
                switch caller {
                case .user(let user): try tx.users.ensure(user, candidate: ids.make(), at: now).rawValue
                case .partner(let partner): "partner/\(partner)"
                }
            return (
                name,
                try tx.idempotencyKeys.claim(
                    key, caller: name, fingerprint: fingerprint, orEarlier: earlier, at: now, lease: Self.lease)
            )
        }
        switch claim {
        case .run(let epoch, let resource):
            return .run(IdempotentRun(caller: caller, key: key, epoch: epoch, resource: resource))
        case .running: throw .requestInProgress
        case .reused: throw .idempotencyKeyReused
        case .replay(_, let sealed) where sealed.isEmpty:
            // It was about a person who has been erased since.
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

    /// Keeps the answer; a client that comes back with the key sees it again.
    package func finishIdempotent(_ run: IdempotentRun, status: Int, answer: Data) async throws(GatewayError) {
        guard let sealed = try? keyRing.seal(answer, context: Self.place(run.caller, run.key)) else {
            throw .internalError
        }
        try await write { tx in
            try tx.idempotencyKeys.finish(
                run.key, caller: run.caller, epoch: run.epoch, status: Int64(status), answer: sealed)
        }
    }

    /// Ends a run whose answer is not kept.
    package func releaseIdempotent(_ run: IdempotentRun) async throws(GatewayError) {
        try await write { tx in try tx.idempotencyKeys.release(run.key, caller: run.caller, epoch: run.epoch) }
    }

    private static func place(_ caller: String, _ key: String) -> String { "idempotency_keys/\(caller)/\(key)" }
}

extension Transaction {
    /// Binds what a run makes to its key, in the transaction that makes it.
    ///
    /// - Throws: `requestInProgress` when another run has taken the key over; nothing of this transaction is kept then.
    func bind(_ context: CallContext, to resource: String) throws {
        guard let run = context.idempotency else { return }
        guard try idempotencyKeys.bind(run.key, caller: run.caller, epoch: run.epoch, resource: resource) else {
            throw GatewayError.requestInProgress
        }
    }

    /// Binds the key to what a run makes in place of the first, which gives the run another lease.
    ///
    /// - Throws: `requestInProgress` as ``bind(_:to:)``.
    func rebind(_ context: CallContext, to resource: String, at now: Timestamp) throws {
        guard let run = context.idempotency else { return }
        let isHeld = try idempotencyKeys.rebind(
            run.key, caller: run.caller, epoch: run.epoch, resource: resource, at: now, lease: Gateway.lease)
        guard isHeld else { throw GatewayError.requestInProgress }
    }
}
