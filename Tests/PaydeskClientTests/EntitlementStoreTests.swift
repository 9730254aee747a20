import Crypto
import Foundation
import TestSupport
import Testing

@testable import PaydeskClient

@Suite("Entitlements, live and offline")
struct EntitlementStoreTests {
    private static func store(_ desk: Paydesk) -> EntitlementStore {
        EntitlementStore(desk: desk, verifier: P256Verifier())
    }

    private static func attach(_ server: DeskServer, _ sale: DeskServer.Sale, _ user: String) async throws {
        _ = try await server.desk(of: user).attach(
            sale.jws, transaction: sale.id, login: try #require(Login(token: DeskServer.token(user), claim: "sub")))
    }

    @Test func `a purchase elsewhere is seen at once, also after the server was killed`() async throws {
        try await DeskServer.with { server in
            let device = TestDevice(server)
            await device.login.set("alice")
            let store = Self.store(device.desk)
            let snapshots = await store.snapshots()
            let work = Task { await store.run() }
            var seen = snapshots.makeAsyncIterator()
            #expect(await seen.next()?.entitlements.isActive == false)
            try await Self.attach(server, try await server.sell(to: "alice"), "alice")
            while let next = await seen.next(), !next.entitlements.owns("vip_month") {}
            #expect(await store.isActive())
            try await server.kill()
            try await server.start()
            try await Self.attach(server, try await server.sell("com.example.walkie", to: "alice"), "alice")
            let following = Task {
                var seen = seen
                while let next = await seen.next() { if next.entitlements.owns("walkie") { return true } }
                return false
            }
            try await eventually("the stream is there again") {
                device.time.advance(60)
                return await store.owns("walkie")
            }
            #expect(await following.value)
            work.cancel()
            await work.value
        }
    }

    @Test func `without a server the last snapshot counts, for its user and its time`() async throws {
        try await DeskServer.with { server in
            let device = TestDevice(server)
            await device.login.set("alice")
            try await Self.attach(server, try await server.sell(to: "alice"), "alice")
            let snapshot = try await Self.store(device.desk).refresh()
            await device.login.set("bob")
            #expect(try await Self.store(device.desk).refresh().entitlements.isActive == false)
            try await server.kill()

            // The app begins again, offline.
            let store = Self.store(device.desk)
            #expect(await store.isActive() == false)
            await device.login.set("alice")
            #expect(await store.current() == snapshot)
            let owns = await store.owns("vip_month")
            #expect(owns)
            #expect(await store.isActive())
            let ticking = Task {
                while !Task.isCancelled {
                    await SpawnedProgram.pause()
                    device.time.advance(1)
                }
            }
            await #expect(throws: PaydeskError.self) { try await store.refresh() }
            ticking.cancel()
            await ticking.value
            #expect(await store.isActive())
            #expect(await store.isActive(at: Date(timeIntervalSince1970: Double(snapshot.endsAt + 1))) == false)
            // A new start after its end does not believe it.
            device.time.advance(snapshot.endsAt - device.time.now + SnapshotReader.leeway + 1)
            #expect(await Self.store(device.desk).current() == nil)
            await device.login.set(nil)
            #expect(await store.isActive() == false)
        }
    }

    /// The next change, the tolerance and the asked time, in hours after the signature, and the answer.
    @Test(
        arguments: [
            (nil, 0, 71, true), (nil, 0, 72, true), (nil, 0, 73, false), (10, 0, 10, true), (10, 0, 11, false),
            (10, 24, 34, true), (10, 24, 35, false), (10, 99, 73, false),
        ] as [(Int64?, Int64, Int64, Bool)])
    func `it holds until the next change and the tolerance, never beyond its end`(
        _ change: Int64?, _ tolerance: Int64, _ asked: Int64, _ isActive: Bool
    ) throws {
        let snapshot = try SnapshotSigner().read(version: 1, change: change.map { $0 * 3_600 }, hours: 72)
        #expect(snapshot.isActive(at: SnapshotSigner.now + asked * 3_600, tolerance: tolerance * 3_600) == isActive)
        #expect(snapshot.owns("vip", at: SnapshotSigner.now + asked * 3_600, tolerance: tolerance * 3_600) == isActive)
    }

    @Test(arguments: SnapshotRefusal.allCases)
    func `a snapshot with one fault is not believed`(_ refusal: SnapshotRefusal) throws {
        let signer = SnapshotSigner()
        #expect(try signer.read(version: 1).entitlements.version == 1)
        #expect(throws: refusal) {
            switch refusal {
            case .malformed: try signer.read(version: 1) { $0.replacingOccurrences(of: ".", with: "") }
            case .algorithm: try signer.read(version: 1, header: ["alg": "HS256"])
            case .type: try signer.read(version: 1, header: ["typ": "JWT"])
            case .unknownKey: try signer.read(version: 1, header: ["kid": "other"])
            case .signature:
                try signer.read(version: 1) { text in
                    let other = (try? SnapshotSigner().text(version: 1)) ?? ""
                    return text.split(separator: ".").prefix(2).joined(separator: ".") + "."
                        + (other.split(separator: ".").last ?? "")
                }
            case .issuer: try signer.read(version: 1, issuer: "https://evil.example")
            case .user: try signer.read(version: 1, user: "mallory")
            case .ended: try signer.read(version: 1, hours: 0, readAt: 61)
            }
        }
        #expect(try signer.read(version: 1, hours: 0, readAt: 60).entitlements.version == 1)
    }

    @Test func `a lower version never replaces a higher one, and of two the later counts`() throws {
        let signer = SnapshotSigner()
        let old = try signer.read(version: 7)
        #expect(try signer.read(version: 6, signedAt: 100).isNewer(than: old) == false)
        #expect(try signer.read(version: 7, signedAt: -1).isNewer(than: old) == false)
        #expect(try signer.read(version: 7, signedAt: 1).isNewer(than: old))
        #expect(try signer.read(version: 8, signedAt: -9).isNewer(than: old))
    }

    @Test(arguments: [1, 3, 7, 1_000])
    func `events are read from pieces of any length`(_ length: Int) {
        let text = """
            retry: 3000

            : a comment

            id: 17
            event: entitlements
            data: {"next_change_at":null,"version":17}

            event: order
            data: {"id":"ord_x","next_action":"none","status":"paid"}

            event: something new
            data: {}

            event: bye
            data: {"reason":"shutdown"}


            """
        var (reader, events) = (ServerEventReader(), [ServerEvent]())
        var rest = Data(text.utf8)
        while !rest.isEmpty {
            events += reader.read(Data(rest.prefix(length)))
            rest = Data(rest.dropFirst(length))
        }
        #expect(
            events == [.entitlements(version: 17), .order(id: "ord_x", status: "paid"), .bye(reason: "shutdown")])
    }
}

/// A server's signature on snapshots.
struct SnapshotSigner {
    static let now: Int64 = 1_800_000_000
    private static let issuer = "https://pay.example"

    private let key = P256.Signing.PrivateKey()

    private static func part(_ data: Data) -> String {
        data.base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }

    /// - Parameters:
    ///   - change: seconds from the signature to the next change.
    ///   - hours: from the signature to the end.
    ///   - signedAt: seconds after ``now``.
    func text(
        version: Int, change: Int64? = nil, hours: Int64 = 72, signedAt: Int64 = 0, header: [String: String] = [:],
        issuer: String = SnapshotSigner.issuer, user: String = "alice"
    ) throws -> String {
        let head = ["alg": "ES256", "typ": "paydesk-entitlements+jwt", "kid": "k"].merging(header) { $1 }
        let next = change.map { String(Self.now + $0) } ?? "null"
        let claims = """
            {"iss":"\(issuer)","sub":"\(user)","iat":\(Self.now + signedAt),"exp":\(Self.now + hours * 3_600),
             "data":{"user_id":"\(user)","version":\(version),"active":true,"tier":"VIP","tier_expires_at":null,
             "expires_at":\(next),"perpetual":false,"next_change_at":\(next),"tiers":[],"balances":{},
             "sandbox_balances":{},"entitlements":[{"id":"grt_x","sku":"vip","kind":"non_renewing","tier":"VIP",
             "status":"active","starts_at":0,"expires_at":\(next),"perpetual":false,"will_renew":false,
             "environment":"Production","attributes":{},"source":{"type":"order","id":"ord_x","order_id":"ord_x"}}]}}
            """
        let input = "\(Self.part(try JSONEncoder().encode(head))).\(Self.part(Data(claims.utf8)))"
        return "\(input).\(Self.part(try key.signature(for: Data(input.utf8)).rawRepresentation))"
    }

    @discardableResult
    func read(
        version: Int, change: Int64? = nil, hours: Int64 = 72, signedAt: Int64 = 0, readAt: Int64 = 0,
        header: [String: String] = [:], issuer: String = SnapshotSigner.issuer, user: String = "alice",
        _ damage: (String) -> String = { $0 }
    ) throws -> EntitlementSnapshot {
        let point = key.publicKey.x963Representation.dropFirst()
        let keys = SnapshotKeys(keys: [
            SnapshotKeys.Key(
                kid: "k", kty: "EC", crv: "P-256", x: Self.part(Data(point.prefix(32))),
                y: Self.part(Data(point.suffix(32))))
        ])
        let text = try text(
            version: version, change: change, hours: hours, signedAt: signedAt, header: header, issuer: issuer,
            user: user)
        return try SnapshotReader(issuer: Self.issuer, verifier: P256Verifier()).read(
            damage(text), user: "alice", keys: keys, now: Self.now + readAt)
    }
}
