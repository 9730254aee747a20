import Domain
import GRDB
import Synchronization
import TestSupport
import Testing

@testable import Store

/// Tests that data about a user stays valid until a commit changes that user.
@Suite struct UserChangesTests {
    private static func user(_ number: Int) throws -> ID<User> {
        let digits = String(number)
        return try #require(ID("usr_" + String(repeating: "0", count: 26 - digits.count) + digits))
    }

    /// The changes of a user in a running commit.
    private final class Witness: Sendable {
        private let changes = Mutex<UserChanges?>(nil)
        private let seen = Mutex<[Bool]>([])
        let user: ID<User>

        init(_ user: ID<User>) { self.user = user }

        func watch(_ engine: SQLiteEngine) { changes.withLock { $0 = engine.userChanges } }

        func look() {
            guard let changes = changes.withLock({ $0 }) else { return }
            seen.withLock { $0.append(changes.isUnchanged(user, since: changes.position)) }
        }

        var answers: [Bool] { seen.withLock { $0 } }
    }

    @Test func `a user counts as changed from before the commit until it is read again`() async throws {
        let alice = try Self.user(1)
        let witness = Witness(alice)
        try await EngineFixture.withSQLite(
            commit: { connection in
                witness.look()
                try connection.execute(sql: "COMMIT")
            },
            { engine in
                let changes = try #require(engine.userChanges)
                witness.watch(engine)
                let before = changes.position
                #expect(changes.isUnchanged(alice, since: before))
                try await engine.write { $0.markChanged(alice) }
                #expect(witness.answers == [false])
                #expect(!changes.isUnchanged(alice, since: before))
                #expect(changes.isUnchanged(alice, since: changes.position))
                try await engine.write { tx in try tx.addNote(1) }
                #expect(witness.answers == [false, true])
            })
    }

    @Test func `a commit changes whom its writes name, and nobody else`() async throws {
        try await EngineFixture.withSQLite { engine in
            let changes = try #require(engine.userChanges)
            let (users, before) = (try (0..<100).map(Self.user), changes.position)
            let results = await EngineFixture.inOneBatch(
                engine,
                [
                    { $0.markChanged(users[0]) },
                    { tx in
                        tx.markChanged(users[1])
                        throw StoreError.corrupt("undone")
                    },
                    { tx in
                        tx.markChanged(users[2])
                        tx.markChanged(users[3])
                    },
                ])
            #expect(results.map(\.kind) == [nil, .corrupt, nil])
            for user in [users[0], users[2], users[3]] { #expect(!changes.isUnchanged(user, since: before)) }
            // Few users share a slot by chance.
            #expect(users.count { !changes.isUnchanged($0, since: before) } < 10)
        }
    }

    @Test func `a commit that did not succeed leaves its users changed until the next one`() async throws {
        let alice = try Self.user(1)
        let commits = Counter()
        try await EngineFixture.withSQLite(commit: { connection in
            guard commits.next() > 1 else { throw DatabaseError(resultCode: .SQLITE_FULL) }
            try connection.execute(sql: "COMMIT")
        }) { engine in
            let changes = try #require(engine.userChanges)
            #expect(await failure { try await engine.write { $0.markChanged(alice) } } == .unavailable)
            #expect(!changes.isUnchanged(alice, since: changes.position))
            try await engine.write { $0.markChanged(alice) }
            #expect(changes.isUnchanged(alice, since: changes.position))
        }
    }

    @Test func `where other processes write, nothing is known of their changes`() async throws {
        try await withDatabase(on: .postgres) { #expect($0.store.engine.userChanges == nil) }
        try await EngineFixture.withSQLite { engine in
            #expect(engine.userChanges != nil)
        }
        try await EngineFixture.withFolder { folder in
            let path = folder + "/engine.db"
            let writer = try SQLiteEngine(path: path, now: { 0 }, onFailure: { _ in })
            let reader = try SQLiteEngine(readOnly: path, now: { 0 })
            #expect(reader.userChanges == nil)
            await reader.close()
            await writer.close()
        }
    }
}
