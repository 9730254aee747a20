import Crypto
import Domain
import Foundation
import Testing

@testable import HTTPAPI

@Suite("Tokens that were verified a moment ago")
struct VerifiedTokensTests {
    private static func digest(_ text: String) -> SHA256Digest { SHA256.hash(data: Data(text.utf8)) }

    private static func token(_ name: String, expiry: Int64) throws -> VerifiedToken {
        VerifiedToken(user: try #require(ExternalUserID(name)), expiry: expiry)
    }

    /// The times at which a token that was verified at 1,000 and expires at `expiry` is found.
    static let moments: [(expiry: Int64, now: Int64, counts: Bool)] = [
        (9_000, 1_000, true), (9_000, 1_059, true), (9_000, 1_060, false), (9_000, 999, false), (1_030, 1_029, true),
        (1_030, 1_030, false), (1_000, 1_000, false),
    ]

    @Test(arguments: moments)
    func `a token counts for a minute, and never past its end or before its check`(
        _ moment: (expiry: Int64, now: Int64, counts: Bool)
    ) throws {
        let tokens = VerifiedTokens()
        tokens.keep(try Self.token("alice", expiry: moment.expiry), Self.digest("a"), at: Timestamp(1_000))
        let found = tokens.user(Self.digest("a"), at: Timestamp(moment.now))
        #expect(found?.rawValue == (moment.counts ? "alice" : nil))
        #expect(tokens.user(Self.digest("b"), at: Timestamp(moment.now)) == nil)
    }

    @Test
    func `the memory is bounded, and the youngest are kept`() throws {
        let tokens = VerifiedTokens()
        let total = 3 * VerifiedTokens.capacity
        for number in 0..<total {
            tokens.keep(
                try Self.token("user\(number)", expiry: 9_000), Self.digest("\(number)"), at: Timestamp(1_000))
        }
        let kept = (0..<total).filter { tokens.user(Self.digest("\($0)"), at: Timestamp(1_000)) != nil }
        #expect(kept.count <= 2 * VerifiedTokens.capacity && kept.count >= VerifiedTokens.capacity)
        #expect(kept.last == total - 1 && kept.first ?? 0 >= total - 2 * VerifiedTokens.capacity)
    }

    @Test
    func `other rules forget every token, and one that the old rules were verifying is not kept`() throws {
        let tokens = VerifiedTokens()
        let generation = tokens.generation
        tokens.keep(try Self.token("alice", expiry: 9_000), Self.digest("a"), at: Timestamp(1_000), of: generation)
        tokens.forget()
        #expect(tokens.user(Self.digest("a"), at: Timestamp(1_000)) == nil)
        tokens.keep(try Self.token("alice", expiry: 9_000), Self.digest("a"), at: Timestamp(1_000), of: generation)
        #expect(tokens.user(Self.digest("a"), at: Timestamp(1_000)) == nil)
        tokens.keep(
            try Self.token("alice", expiry: 9_000), Self.digest("a"), at: Timestamp(1_000), of: tokens.generation)
        #expect(tokens.user(Self.digest("a"), at: Timestamp(1_000)) != nil)
    }
}
