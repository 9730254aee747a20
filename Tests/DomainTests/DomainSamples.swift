import Domain
import Foundation
import Testing

/// The JSON of a value with sorted keys, so that it can be compared with a literal.
func json(_ value: some Encodable) throws -> String { try JSONText.line(value) }

func decoded<Value: Decodable>(_ text: String, as type: Value.Type = Value.self) throws -> Value {
    try JSONDecoder().decode(type, from: Data(text.utf8))
}

/// Parses "39.90 CNY".
func money(_ text: String) throws -> Money {
    let parts = text.split(separator: " ").map(String.init)
    let decimal = try #require(parts.first)
    let currency = try #require(Currency(parts.last ?? ""))
    return try #require(Money(decimal: decimal, currency: currency))
}

/// Makes an id that ends in the number, `ord_00000000000000000000000007`.
func sampleID<Subject: Identified>(_ number: Int, of subject: Subject.Type = Subject.self) throws -> ID<Subject> {
    let digits = String(number)
    return try #require(ID("\(Subject.idPrefix)_\(String(repeating: "0", count: 26 - digits.count))\(digits)"))
}

/// Returns midnight of a day, counted from 1970-01-01 UTC.
func day(_ number: Int64) -> Timestamp { Timestamp(0).adding(days: number) }

/// Makes a SKU from minimal JSON with a merge patch.
func sku(_ patch: String = "{}") throws -> SKU {
    let base = #"{"id":"vip","name":"VIP","kind":"consumable","prices":[{"value":1000,"currency":"CNY"}]}"#
    let merged = try decoded(base, as: JSONValue.self).merging(try decoded(patch))
    return try decoded(try json(merged))
}

/// Returns all orders of a few elements.
func permutations<Element>(_ elements: [Element]) -> [[Element]] {
    guard !elements.isEmpty else { return [[]] }
    return elements.indices.flatMap { index -> [[Element]] in
        var rest = elements
        let first = rest.remove(at: index)
        return permutations(rest).map { [first] + $0 }
    }
}

/// Returns all sequences of up to `length` elements, with repetitions.
func sequences<Element>(_ elements: [Element], upTo length: Int) -> [[Element]] {
    var all: [[Element]] = []
    var longest: [[Element]] = [[]]
    for _ in 0..<length {
        longest = longest.flatMap { head in elements.map { head + [$0] } }
        all += longest
    }
    return all
}
