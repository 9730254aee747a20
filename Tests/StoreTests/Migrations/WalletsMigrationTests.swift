import Foundation
import TestSupport
import Testing

@testable import Domain
@testable import Store

@Suite struct WalletsMigrationTests {
    private static let earlier = Migrations.all.filter { $0.number < 41 }

    @Test(arguments: TestEngine.allCases)
    func `earlier sessions have no payer, and a payer is asked for once`(_ engine: TestEngine) async throws {
        try await withStore(on: engine, migrations: Self.earlier) { store in
            try await store.write { tx in
                try tx.execute("INSERT INTO user_states (user_id, created_at) VALUES (?, 1)", Self.user)
                try tx.execute(
                    """
                    INSERT INTO sessions (id, token_digest, user_id, purpose, maker_kind, maker, skus, quantity, currency,
                        platform, accept, metadata, created_at, expires_at, readable_until)
                    VALUES (?, ?, ?, 'checkout', 'user', '', '', 1, 'CNY', 'web', 'qr', '{}', 1, 100, 100)
                    """, Self.session, Data([1]), Self.user)
            }
            try await Migrator.apply(Migrations.all, to: store, at: 1)
            let id = try #require(ID<Session>(Self.session))
            let account = try #require(AccountID("wechat"))
            func found() async throws -> Session.Authorization? {
                try await store.read { db in try db.sessions.find(id) }?.authorization
            }
            func take(_ digest: UInt8, at now: Int64) async throws -> AccountID? {
                try await store.write { tx in
                    try tx.sessions.takeAuthorization(id, digest: Data([digest]), at: Timestamp(now))
                }
            }
            #expect(try await found() == Session.Authorization.none)
            for isFirst in [true, false] {
                let asked = try await store.write { tx in
                    try tx.sessions.askForAuthorization(id, at: account, digest: Data([7]), until: Timestamp(50))
                }
                #expect(asked == isFirst)
            }
            #expect(try await found() == .asked)
            // Another's state, one that is too old, the right one, and the same again.
            #expect(try await take(8, at: 10) == nil)
            #expect(try await take(7, at: 50) == nil)
            #expect(try await take(7, at: 49) == account)
            #expect(try await take(7, at: 49) == nil)
            try await store.write { tx in try tx.sessions.setPayer(Data([9]), appID: "wx1", of: id) }
            #expect(try await found() == .given(appID: "wx1"))
            #expect(try await store.read { db in try db.sessions.findOpenID(of: id) } == Data([9]))
            let user = try #require(ID<User>(Self.user))
            try await store.write { tx in try tx.sessions.erase(of: user, at: Timestamp(2)) }
            #expect(try await store.read { db in try db.sessions.findOpenID(of: id) } == nil)
        }
    }

    private static let user = "usr_01jdgk4zs8f4d9v3qkr6t2m7hx"
    private static let session = "ses_01jdgk4zs8f4d9v3qkr6t2m7hx"
}
