/// The result of a statement that has not been waited for.
///
/// PostgreSQL gets such a statement together with the next one whose result is needed (or when many wait), so that
/// several reads take one round trip; it sees the data that a statement in its position sees. SQLite runs it at once. A
/// failure is thrown by the first ``value()`` that waits. The result is valid only inside the closure of its
/// transaction.
package struct DeferredResult<Value> {
    private let wait: () throws(StoreError) -> Value

    init(_ wait: @escaping () throws(StoreError) -> Value) {
        self.wait = wait
    }

    /// A result that is known already.
    package init(_ value: Value) {
        wait = { () throws(StoreError) in value }
    }

    /// Returns the result, waiting for it where needed.
    package func value() throws(StoreError) -> Value { try wait() }

    package func map<Other>(_ transform: @escaping (Value) throws(StoreError) -> Other) -> DeferredResult<Other> {
        DeferredResult<Other> { () throws(StoreError) in try transform(try wait()) }
    }

    /// Combines two results; this one is waited for first.
    package func with<Other>(_ other: DeferredResult<Other>) -> DeferredResult<(Value, Other)> {
        DeferredResult<(Value, Other)> { () throws(StoreError) in (try wait(), try other.value()) }
    }
}

extension DeferredResult where Value == [Row] {
    /// Decodes every row.
    func each<Item>(_ decode: @escaping (Row) throws(StoreError) -> Item) -> DeferredResult<[Item]> {
        map { rows throws(StoreError) in try rows.map(decode) }
    }

    /// Decodes the first row; nil when there is none.
    func first<Item>(_ decode: @escaping (Row) throws(StoreError) -> Item) -> DeferredResult<Item?> {
        map { rows throws(StoreError) in try rows.first.map(decode) }
    }
}
