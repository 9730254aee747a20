import Domain
import Foundation
import Gateway
import JWTKit
import Synchronization
import TestSupport
import Testing
import _CryptoExtras

@testable import HTTPAPI

@Suite("Users' tokens by a set of keys")
struct TokenKeysTests {
    /// An issuer's RSA key; its entry in a set has no `alg`, like those of many issuers.
    private struct Issuer {
        let key: JWTKit.Insecure.RSA.PrivateKey
        let entry: String

        init(kid: String? = "one", more: String = "") throws {
            key = try JWTKit.Insecure.RSA.PrivateKey(
                pem: try _RSA.Signing.PrivateKey(keySize: .bits2048).pemRepresentation)
            let parts = try key.publicKey.getKeyPrimitives()
            let name = kid.map { #""kid":"\#($0)","# } ?? ""
            entry =
                #"{"kty":"RSA",\#(name)"n":"\#(Base64URL.encoded(parts.0))","e":"\#(Base64URL.encoded(parts.1))"\#(more)}"#
        }

        func token(
            _ user: String = "alice", at now: Timestamp, _ algorithm: DigestAlgorithm = .sha256, kid: String? = "one"
        ) async throws -> String {
            let keys = await JWTKeyCollection().add(
                rsa: key, digestAlgorithm: algorithm, kid: kid.map { JWKIdentifier(string: $0) })
            let claims: [String: JSONValue] = ["sub": .string(user), "exp": .integer(now.rawValue + 600)]
            return try await keys.sign(TestClaims(members: claims), kid: kid.map { JWKIdentifier(string: $0) })
        }
    }

    private static func user(_ token: String, _ tokens: UserTokens) async -> Result<String, GatewayError> {
        do throws(GatewayError) { return .success(try await tokens.user(token).rawValue) } catch {
            return .failure(error)
        }
    }

    private static func set(_ entries: String...) -> String { #"{"keys":[\#(entries.joined(separator: ","))]}"# }

    @Test
    func `a stranger's token does not decide what a key is for`() async throws {
        let (issuer, clock) = (try Issuer(), FixtureClock(1_736_860_000))
        let stranger = try Issuer()
        for keys in [UserKeys.set(json: Self.set(issuer.entry)), .remote { Self.set(issuer.entry) }] {
            let tokens = UserTokens(UserTokenRules(keys: keys), time: clock.time)
            let junk = try await stranger.token(at: clock.now, .sha512)
            #expect(await Self.user(junk, tokens) == .failure(.invalidCredential(.signature)))
            #expect(await Self.user(try await issuer.token(at: clock.now), tokens) == .success("alice"))
            // The set is fetched again for a token that does not verify.
            clock.advance(seconds: 61)
            #expect(await Self.user(junk, tokens) == .failure(.invalidCredential(.signature)))
            #expect(await Self.user(try await issuer.token("bob", at: clock.now), tokens) == .success("bob"))
        }
    }

    @Test(arguments: [
        #"{"kty":"oct","kid":"x","k":"AAAA"}"#, #"{"kty":"OKP","crv":"X25519","kid":"x","x":"AAAA"}"#,
        #"{"kty":"RSA","kid":"x","alg":"RSA-OAEP-256","n":"AQAB","e":"AQAB"}"#, #"{"kty":"RSA","n":"AQAB","e":"AQAB"}"#,
        #"{"kty":"EC","crv":"secp256k1","kid":"x","x":"AAAA","y":"AAAA"}"#, "7", "{}",
    ])
    func `a key that is of no use leaves the others`(_ other: String) async throws {
        let (issuer, clock) = (try Issuer(), FixtureClock(1_736_860_000))
        let keys = UserKeys.set(json: Self.set(other, issuer.entry))
        let tokens = UserTokens(UserTokenRules(keys: keys), time: clock.time)
        #expect(await Self.user(try await issuer.token(at: clock.now), tokens) == .success("alice"))
    }

    @Test
    func `one key needs no name, and one that encrypts signs nothing`() async throws {
        let clock = FixtureClock(1_736_860_000)
        let nameless = try Issuer(kid: nil)
        let tokens = UserTokens(UserTokenRules(keys: .set(json: Self.set(nameless.entry))), time: clock.time)
        #expect(await Self.user(try await nameless.token(at: clock.now, kid: nil), tokens) == .success("alice"))
        let encrypting = try Issuer(more: #","use":"enc""#)
        let others = UserTokens(
            UserTokenRules(keys: .set(json: Self.set(encrypting.entry, nameless.entry))), time: clock.time)
        #expect(
            await Self.user(try await encrypting.token(at: clock.now), others)
                == .failure(.invalidCredential(.signature)))
    }

    @Test(arguments: ["", "{}", #"{"keys":[]}"#, #"{"keys":[{"kty":"oct","kid":"x","k":"AAAA"}]}"#])
    func `while there is no key nobody is sent away for good`(_ set: String) async throws {
        let (issuer, clock) = (try Issuer(), FixtureClock(1_736_860_000))
        let token = try await issuer.token(at: clock.now)
        let known = Mutex(set)
        let tokens = UserTokens(
            UserTokenRules(keys: .remote { known.withLock { $0 } }), time: clock.time)
        #expect(await Self.user(token, tokens) == .failure(.temporarilyUnavailable(retryAfter: 60)))
        known.withLock { $0 = Self.set(issuer.entry) }
        clock.advance(seconds: 60)
        #expect(await Self.user(token, tokens) == .success("alice"))
    }

    /// The movement of the clock after a fetch, and whether an unknown key then causes another one.
    static let moves: [(seconds: Int64, isFetched: Bool)] = [
        (0, false), (59, false), (60, true), (-1, true), (-3_600, true),
    ]

    @Test(arguments: moves)
    func `the set is fetched again after a minute, and at once where the clock was set back`(
        _ seconds: Int64, _ isFetched: Bool
    ) async throws {
        let (old, new, clock) = (try Issuer(), try Issuer(kid: "two"), FixtureClock(1_736_860_000))
        let known = Mutex(Self.set(old.entry))
        let tokens = UserTokens(
            UserTokenRules(keys: .remote { known.withLock { $0 } }), time: clock.time)
        #expect(await Self.user(try await old.token(at: clock.now), tokens) == .success("alice"))
        known.withLock { $0 = Self.set(old.entry, new.entry) }
        clock.advance(seconds: seconds)
        let found = await Self.user(try await new.token("bob", at: clock.now, kid: "two"), tokens)
        let expected: Result<String, GatewayError> =
            isFetched ? .success("bob") : .failure(.invalidCredential(.signature))
        #expect(found == expected)
    }

    @Test
    func `other rules are those of the next request`() async throws {
        let (old, new, clock) = (try Issuer(), try Issuer(kid: "two"), FixtureClock(1_736_860_000))
        let tokens = UserTokens(UserTokenRules(keys: .set(json: Self.set(old.entry))), time: clock.time)
        let (first, second) = (
            try await old.token(at: clock.now), try await new.token("bob", at: clock.now, kid: "two")
        )
        #expect(await Self.user(first, tokens) == .success("alice"))
        #expect(await Self.user(second, tokens) == .failure(.invalidCredential(.signature)))
        tokens.replace(by: UserTokenRules(keys: .set(json: Self.set(new.entry))))
        #expect(await Self.user(first, tokens) == .failure(.invalidCredential(.signature)))
        #expect(await Self.user(second, tokens) == .success("bob"))
    }

    @Test
    func `whoever comes during a fetch waits for it, and it is one fetch`() async throws {
        let (issuer, clock) = (try Issuer(), FixtureClock(1_736_860_000))
        let token = try await issuer.token(at: clock.now)
        let fetches = Mutex(0)
        let gate = Gate()
        let tokens = UserTokens(
            UserTokenRules(
                keys: .remote {
                    fetches.withLock { $0 += 1 }
                    await gate.pass()
                    return Self.set(issuer.entry)
                }), time: clock.time)
        await withTaskGroup(of: Result<String, GatewayError>.self) { group in
            for _ in 0..<20 { group.addTask { await Self.user(token, tokens) } }
            gate.open()
            for await result in group { #expect(result == .success("alice")) }
        }
        #expect(fetches.withLock { $0 } == 1)
    }
}
