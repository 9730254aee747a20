/// The result of a statement that has not been waited for.
///
/// Several of them read in one round trip: PostgreSQL is sent the statement with the next one whose result is needed (or
/// when many wait), and it sees what a statement in its position sees; SQLite runs it at once. A failure is thrown by the
/// first ``value()`` that waits. The result is valid only inside the closure of its transaction.
package struct DeferredResult<Value> {
    private let wait: () throws(StoreError) -> Value

    init(_ wait: @escaping () throws(StoreError) -> Value) {
        self.wait = wait
    }

    /// A result that is known already.
    package init(_ value: Value) {
        wait = { () throws(StoreError) in value }
    }

    /// Waits for the result, unless it has come.
    package func value() throws(StoreError) -> Value { try wait() }

    package func map<Other>(_ transform: @escaping (Value) throws(StoreError) -> Other) -> DeferredResult<Other> {
        DeferredResult<Other> { () throws(StoreError) in try transform(try wait()) }
    }

    /// Both results, of which this one is waited for first.
    package func with<Other>(_ other: DeferredResult<Other>) -> DeferredResult<(Value, Other)> {
        DeferredResult<(Value, Other)> { () throws(StoreError) in (try wait(), try other.value()) }
    }
}

extension DeferredResult where Value == [Row] {
    /// Every row, decoded.
    func each<Item>(_ decode: @escaping (Row) throws(StoreError) -> Item) -> DeferredResult<[Item]> {
        map { rows throws(StoreError) in try rows.map(decode) }
    }

    /// The first row, decoded; nil when there is none.
    func first<Item>(_ decode: @escaping (Row) throws(StoreError) -> Item) -> DeferredResult<Item?> {
        map { rows throws(StoreError) in try rows.first.map(decode) }
    }
}
