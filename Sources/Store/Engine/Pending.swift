/// What a statement finds or does, asked for now and waited for when somebody needs it.
///
/// PostgreSQL is sent it with the next statement whose answer is needed (or when many wait), so that several share one
/// round trip; it sees what a statement in its place sees. Its failure shows at the first of them that is waited for. It
/// is valid only inside its closure.
package struct Pending<Value> {
    private let find: () throws(StoreError) -> Value

    init(_ find: @escaping () throws(StoreError) -> Value) {
        self.find = find
    }

    /// What is known already.
    package init(_ value: Value) {
        find = { () throws(StoreError) in value }
    }

    /// Waits for the answer, unless it has come, and reads it.
    package func value() throws(StoreError) -> Value { try find() }

    package func map<Other>(_ transform: @escaping (Value) throws(StoreError) -> Other) -> Pending<Other> {
        Pending<Other> { () throws(StoreError) in try transform(try find()) }
    }

    package func with<Other>(_ other: Pending<Other>) -> Pending<(Value, Other)> {
        Pending<(Value, Other)> { () throws(StoreError) in (try find(), try other.value()) }
    }
}

extension Pending where Value == [Row] {
    /// What each row holds.
    func each<Item>(_ read: @escaping (Row) throws(StoreError) -> Item) -> Pending<[Item]> {
        map { rows throws(StoreError) in try rows.map(read) }
    }

    /// What the first row holds; nil where there is none.
    func first<Item>(_ read: @escaping (Row) throws(StoreError) -> Item) -> Pending<Item?> {
        map { rows throws(StoreError) in try rows.first.map(read) }
    }
}
