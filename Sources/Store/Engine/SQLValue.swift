package import FoundationEssentials

/// A value bound to or read from SQL, of one of the storage classes that both engines have.
///
/// Booleans are integers 0 and 1, times are integer seconds, JSON is text.
package enum SQLValue: Sendable, Equatable {
    case null
    case integer(Int64)
    case text(String)
    case blob(Data)
}

extension SQLValue: ExpressibleByNilLiteral, ExpressibleByIntegerLiteral, ExpressibleByStringLiteral {
    package init(nilLiteral: ()) { self = .null }
    package init(integerLiteral value: Int64) { self = .integer(value) }
    package init(stringLiteral value: String) { self = .text(value) }
}

/// A Swift value with exactly one SQL form.
package protocol SQLBindable {
    var sql: SQLValue { get }
}

extension SQLValue: SQLBindable { package var sql: SQLValue { self } }
extension Int64: SQLBindable { package var sql: SQLValue { .integer(self) } }
extension Int: SQLBindable { package var sql: SQLValue { .integer(Int64(self)) } }
extension Bool: SQLBindable { package var sql: SQLValue { .integer(self ? 1 : 0) } }
extension String: SQLBindable { package var sql: SQLValue { .text(self) } }
extension Data: SQLBindable { package var sql: SQLValue { .blob(self) } }
extension Optional: SQLBindable where Wrapped: SQLBindable {
    package var sql: SQLValue { self?.sql ?? .null }
}
