import Testing

@testable import Store

/// Tests of the translation from portable SQL to PostgreSQL's.
@Suite struct PostgresStatementTests {
    @Test(arguments: [
        ("SELECT 1", "SELECT 1"),
        ("a = ? AND b = ?", "a = $1 AND b = $2"),
        ("'?' || ? || 'it''s ?'", "'?' || $1 || 'it''s ?'"),
        ("\"col?\" = ?", "\"col?\" = $1"),
        ("? -- why?\n, ?", "$1 -- why?\n, $2"),
        ("? /* ? */ ?", "$1 /* ? */ $2"),
        ("? - ? / ?", "$1 - $2 / $3"),
        ("'open ?", "'open ?"),
        ("ä ? 😀 ?", "ä $1 😀 $2"),
    ])
    func `placeholders are numbered outside quotes and comments`(portable: String, numbered: String) {
        #expect(PostgresPlaceholders.numbered(portable) == numbered)
    }

    @Test func `the statement that was used least recently goes first`() {
        var cache = PostgresStatementCache(limit: 2)
        let keys = ["a", "b", "c"].map { PostgresStatementCache.Key(sql: $0, types: []) }
        #expect(cache.name(keys[0]) == nil)
        cache.insert(keys[0], name: cache.nextName())
        #expect(cache.name(keys[1]) == nil)
        #expect(cache.evict() == nil)
        cache.insert(keys[1], name: cache.nextName())
        #expect(cache.name(keys[0]) == "s1")
        #expect(cache.evict() == "s2")
        cache.insert(keys[2], name: cache.nextName())
        #expect(keys.map { cache.name($0) } == ["s1", nil, "s3"])
    }
}
