import Crypto
import Domain
package import FoundationEssentials
import Store

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
    static let lease: Int64 = 60

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

    static func seal(
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
