import Crypto
import Domain
import Foundation
import HTTPTypes
import Store
import TestSupport
import Testing

@testable import Gateway
@testable import HTTPAPI

@Suite("Signed snapshots")
struct SignedSnapshotTests {
    private static let path = "/v1/public/entitlements"

    private struct Token {
        let text: String
        let header: JSONValue
        let claims: JSONValue
    }

    private static func token(_ counter: Counter, _ bearer: String) async throws -> Token {
        let reply = try await counter.get(path, bearer, headers: ["Accept": "application/jwt"])
        try #require(reply.status == 200, "\(reply)")
        let parts = reply.text.split(separator: ".").map(String.init)
        try #require(parts.count == 3)
        let values = try parts.prefix(2).map { part in
            try JSONDecoder().decode(JSONValue.self, from: Data(try #require(Base64URL.decoded(part))))
        }
        return Token(text: reply.text, header: values[0], claims: values[1])
    }

    private static func keys(_ counter: Counter) async throws -> JSONValue {
        let reply = try await counter.get("/.well-known/jwks.json", headers: ["Origin": "https://app.example"])
        #expect(reply.status == 200 && reply.header("Access-Control-Allow-Origin") == "*")
        #expect(reply.header("Cache-Control") == "max-age=300")
        return try reply.json["keys"]
    }

    private static func records(_ counter: Counter) async throws -> [SnapshotKeyRecord] {
        try await counter.desk.store.read { db in try db.snapshotKeys.listSigning() }
    }

    @Test(arguments: TestEngine.allCases)
    func `it has the contract's header and claims, and its key is published`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine) { counter in
            let user = try await counter.token()
            _ = try await counter.grant()
            let token = try await Self.token(counter, user)
            #expect(token.header.names == ["alg", "typ", "kid"] && token.header.text("alg") == "ES256")
            #expect(token.header.text("typ") == "paydesk-entitlements+jwt")
            #expect(token.claims.names == ["iss", "sub", "iat", "exp", "data"])
            #expect(token.claims.text("iss") == GatewayFixture.publicURL && token.claims.text("sub") == "alice")
            #expect(token.claims.int("iat") == counter.desk.clock.now.rawValue)
            #expect(try await counter.get(Self.path, user).data == token.claims["data"])
            let keys = try await Self.keys(counter)
            #expect(keys.elements.count == 1 && keys[0].text("kid") == token.header.text("kid"))
            #expect(keys[0].names == ["kty", "crv", "x", "y", "kid", "alg", "use"])
            // A snapshot is no login.
            #expect(try await counter.get(Self.path, token.text).status == 401)
            let portal = try await counter.session(user, purpose: "portal").text("token")
            #expect(try await Self.token(counter, portal).claims.text("sub") == "alice")
        }
    }

    /// The days of a grant, those after which the clock was moved, and the hours until the snapshot's end.
    @Test(arguments: [(0, 0, 72), (1, 0, 48), (30, 0, 72), (1, 10, 48), (0, 10, 72)])
    func `it lives for its hours, and for the grace beyond the next change`(
        _ days: Int64, _ moved: Int64, _ hours: Int64
    ) async throws {
        var setup = CounterSetup()
        setup.desk.isDevelopment = true
        try await withCounter(on: .sqlite, setup) { counter in
            try await counter.desk.setOffset(moved * 86_400)
            let user = try await counter.token()
            if days > 0 { _ = try await counter.grant(days: days) }
            let claims = try await Self.token(counter, user).claims
            #expect(claims.int("iat") == counter.desk.clock.now.rawValue)
            #expect(claims.int("exp") == claims.int("iat") + hours * 3_600)
        }
    }

    @Test(arguments: [
        ("application/jwt", true), ("Application/JWT;q=0.9, application/json;q=0.5", true),
        ("application/jwt, */*;q=0.1", true), ("application/*;q=0.2, application/jwt", true),
        ("application/json", false), ("*/*", false), ("application/*", false), ("text/html", false),
        ("application/json, application/jwt", false), ("application/jwt;q=0.2, application/json;q=0.8", false),
        ("application/jwt;q=0", false), ("application/jwt;q=x", false), ("application/jwtx", false),
    ])
    func `who prefers it gets it`(_ accept: String, _ isSigned: Bool) async throws {
        try await withCounter { counter in
            let user = try await counter.token()
            let tag = try #require(try await counter.get(Self.path, user).header("ETag"))
            let headers = ["Accept": accept, "Origin": "https://app.example"]
            let reply = try await counter.get(Self.path, user, headers: headers)
            #expect(reply.header("Content-Type") == (isSigned ? "application/jwt" : "application/json; charset=utf-8"))
            #expect(reply.header("Vary") == "Accept, Origin" && (reply.header("ETag") == nil) == isSigned)
            let again = try await counter.get(Self.path, user, headers: ["Accept": accept, "If-None-Match": tag])
            #expect(again.status == (isSigned ? 200 : 304) && again.header("Vary") == "Accept")
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a rotation keeps the old key until what it signed has ended`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine) { counter in
            let (user, snapshots) = (try await counter.token(lifetime: 400_000), counter.desk.gateway.signedSnapshots)
            let old = try await Self.token(counter, user).header.text("kid")
            counter.desk.clock.tick()
            let new = try await snapshots.rotate(context: .test)
            #expect(try await Self.token(counter, user).header.text("kid") == new && new != old)
            #expect(try await Self.keys(counter).elements.map { $0.text("kid") } == [new, old])
            try await counter.desk.pass(seconds: 72 * 3_600)
            #expect(try await Self.keys(counter).elements.count == 2)
            try await counter.desk.pass(seconds: 120)
            #expect(try await Self.keys(counter).elements.map { $0.text("kid") } == [new])
            counter.desk.clock.tick()
            _ = try await snapshots.rotate(context: .test)
            #expect(try await counter.desk.count("snapshot_keys") == 2)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `nodes that begin at once make one key`(_ engine: TestEngine) async throws {
        try await withNodes(3, on: engine) { nodes in
            let kids = try await withThrowingTaskGroup(of: String.self) { group in
                for node in nodes {
                    for user in ["alice", "bob", "carol"] {
                        group.addTask { try await Self.token(node, try await node.token(user)).header.text("kid") }
                    }
                }
                return try await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
            #expect(kids.count == 1)
            for node in nodes { #expect(try await Self.keys(node).elements.map { $0.text("kid") } == Array(kids)) }
        }
    }

    @Test func `the private key is sealed, and is sealed again with a newer key`() async throws {
        try await withCounter { counter in
            let user = try await counter.token()
            let kid = try await Self.token(counter, user).header.text("kid")
            let record = try #require(try await Self.records(counter).first)
            let newer = try KeyRing(keys: [Data(repeating: 8, count: 32), Data(repeating: 7, count: 32)])
            let opened = try SnapshotKey(record, with: counter.desk.keyRing)
            #expect(opened.kid == kid && record.secret.range(of: opened.key.rawRepresentation) == nil)
            let secrets = SealedSecrets(
                store: counter.desk.gateway.access, keyRing: newer, logger: counter.desk.gateway.logger)
            #expect(try await secrets.reseal().closed == 0)
            let sealed = try #require(try await Self.records(counter).first)
            #expect(sealed.secret != record.secret)
            #expect(try SnapshotKey(sealed, with: KeyRing(keys: [Data(repeating: 8, count: 32)])).kid == kid)
            // A node that cannot open it makes its own, once.
            #expect(try await Self.keys(counter).elements.count == 1)
            let restarted = counter.desk.node().signedSnapshots
            let name = try #require(ExternalUserID("alice"))
            _ = try await (restarted.sign(for: name), restarted.sign(for: name))
            #expect(try await Self.keys(counter).elements.count == 2)
        }
    }

    /// Verifies snapshots with PyPI's `pyjwt`, which `Tests/Scripts/interop.sh` installs.
    @Test func `another library believes what it should`() async throws {
        try await withCounter { counter in
            // The library compares times with the real clock.
            counter.desk.clock.set(Int64(Date().timeIntervalSince1970))
            let (snapshots, users) = (counter.desk.gateway.signedSnapshots, ["alice", "小明", "a\"b\\c", "é/ 7"])
            var questions: [(members: [String: JSONValue], isSound: Bool)] = []
            for user in users {
                _ = try await snapshots.rotate(context: .test)
                let text = try await snapshots.sign(for: try #require(ExternalUserID(user)))
                let parts = text.split(separator: ".")
                let other = "\(parts[0]).\(parts[1].dropLast(2))AA.\(parts[2])"
                let sound = ["token": JSONValue.string(text), "issuer": .string(GatewayFixture.publicURL)]
                questions += [
                    (sound.merging(["user": .string(user)]) { $1 }, true),
                    (sound.merging(["user": .string("mallory")]) { $1 }, false),
                    (sound.merging(["user": .string(user), "issuer": .string("https://evil.example")]) { $1 }, false),
                    (sound.merging(["user": .string(user), "token": .string(other)]) { $1 }, false),
                ]
            }
            let keys = JSONValue.object(["keys": try await Self.keys(counter)])
            let lines = try questions.map { question in
                try JSONEncoder().encode(JSONValue.object(question.members.merging(["keys": keys]) { $1 }))
            }
            let verdicts = try await InteropPython(peer: "pyjwt").lines(
                "verify_snapshot.py", input: Data(lines.joined(separator: [0x0A])))
            #expect(verdicts.map { $0 == "accept" } == questions.map(\.isSound), "\(verdicts)")
        }
    }
}
