package import Domain
import FoundationEssentials

// Domain values from rows; a value that the schema's constraints do not allow is `StoreError.corrupt`.
extension Row {
    package func id<Subject>(_ column: String, _: Subject.Type = Subject.self) throws(StoreError) -> ID<Subject> {
        try Self.id(try text(column), column)
    }

    private static func id<Subject>(_ text: String, _ column: String) throws(StoreError) -> ID<Subject> {
        guard let id = ID<Subject>(text) else { throw .corrupt("column \(column) is not an id") }
        return id
    }

    package func optionalID<Subject>(
        _ column: String, _: Subject.Type = Subject.self
    ) throws(StoreError) -> ID<Subject>? {
        guard let text = try optionalText(column) else { return nil }
        return try Self.id(text, column)
    }

    package func time(_ column: String) throws(StoreError) -> Timestamp { Timestamp(try int(column)) }

    package func optionalTime(_ column: String) throws(StoreError) -> Timestamp? {
        try optionalInt(column).map(Timestamp.init(_:))
    }

    package func code(_ column: String) throws(StoreError) -> SKUCode {
        guard let code = SKUCode(try text(column)) else { throw .corrupt("column \(column) is not a SKU id") }
        return code
    }

    package func account(_ column: String) throws(StoreError) -> AccountID {
        guard let account = AccountID(try text(column)) else { throw .corrupt("column \(column) is not an account") }
        return account
    }

    package func choice<Choice: RawRepresentable<String>>(
        _ column: String, _: Choice.Type = Choice.self
    ) throws(StoreError) -> Choice {
        guard let choice = Choice(rawValue: try text(column)) else { throw .corrupt("column \(column) is unknown") }
        return choice
    }

    /// Reads an amount from two columns.
    package func money(_ value: String, _ currency: String) throws(StoreError) -> Money {
        guard let unit = Currency(try text(currency)) else { throw .corrupt("column \(currency) is not a currency") }
        return Money(value: try int(value), currency: unit)
    }

    package func optionalMoney(_ value: String, _ currency: String) throws(StoreError) -> Money? {
        self[value] == .null ? nil : try money(value, currency)
    }

    /// Reads a JSON object as a dictionary; most are empty and need no parser.
    package func json<Value: Decodable>(
        _ column: String, _: [String: Value].Type = [String: Value].self
    ) throws(StoreError) -> [String: Value] {
        try text(column) == "{}" ? [:] : try decoded(column)
    }

    package func json<Value: Decodable>(_ column: String, _: Value.Type = Value.self) throws(StoreError) -> Value {
        try decoded(column)
    }

    private func decoded<Value: Decodable>(_ column: String, _: Value.Type = Value.self) throws(StoreError) -> Value {
        let text = try text(column)
        do {
            return try JSONDecoder().decode(Value.self, from: Data(text.utf8))
        } catch {
            throw .corrupt("column \(column) is not the JSON that it should be")
        }
    }
}

extension Dictionary where Key == String, Value: Encodable {
    /// This object as JSON text with sorted keys; most are empty and need no encoder.
    package func storedJSON() throws(StoreError) -> String { isEmpty ? "{}" : try sortedJSON() }
}

extension Encodable {
    /// This value as JSON text with sorted keys, so that equal values have equal texts.
    package func storedJSON() throws(StoreError) -> String { try sortedJSON() }

    fileprivate func sortedJSON() throws(StoreError) -> String {
        do {
            return try JSONText.line(self)
        } catch {
            throw .corrupt("a value has no JSON form")
        }
    }
}

extension Timestamp: SQLBindable {
    package var sql: SQLValue { .integer(rawValue) }
}

extension ID: SQLBindable {
    package var sql: SQLValue { .text(rawValue) }
}

extension SKUCode: SQLBindable {
    package var sql: SQLValue { .text(rawValue) }
}

extension AccountID: SQLBindable {
    package var sql: SQLValue { .text(rawValue) }
}
