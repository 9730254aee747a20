import Domain
import FoundationEssentials

/// The shape of a JSON value, in the part of JSON Schema (draft 2020-12) that the API needs.
struct Shape: Sendable {
    indirect enum Form: Sendable {
        case any
        case string(format: String?, length: ClosedRange<Int>?, pattern: String? = nil)
        case words([String])
        case integer(ClosedRange<Int64>?)
        case number
        case boolean
        /// - Parameters:
        ///   - count: the allowed number of elements; nil for any number.
        ///   - isSet: true where all elements must be different.
        case list(Shape, count: ClosedRange<Int>? = nil, isSet: Bool = false)
        /// An object with arbitrary member names.
        case map(Shape, keys: Shape? = nil, count: ClosedRange<Int>? = nil)
        case object([Member])
        /// An object of one of several named shapes; the member `by` has a different word in each of them.
        case oneOf([Shape], by: String? = nil)
        /// A shape among the document's `components`.
        case named(String, Shape)
    }

    /// A member of an object.
    struct Member: Sendable {
        let name: String
        let shape: Shape
        let isRequired: Bool
    }

    var form: Form
    var isNullable = false
    /// True for an object that allows no other members than those that it names.
    var isClosed = false
    var note: String?
    /// An example of the value; without one, ``exampleValue(_:)`` makes it from the form.
    var example: JSONValue?

    init(_ form: Form) { self.form = form }
}

extension Shape {
    static let any = Shape(.any)
    static let string = Shape(.string(format: nil, length: nil))
    static let number = Shape(.number)
    static let integer = Shape(.integer(nil))
    static let boolean = Shape(.boolean)
    /// Seconds since 1970-01-01 UTC.
    static let time = Shape(.integer(nil)).noted("Seconds since 1970-01-01 UTC.").shown("1736860000")
    static let address = Shape(.string(format: "uri", length: nil)).shown(#""https://app.example/done""#)
    static let currency = string(3...3, pattern: "[A-Z]{3}").noted("ISO 4217.").shown(#""CNY""#)
    /// An amount in integer minor units.
    static let money = named("Money", amount(.integer, currency))

    /// Makes the shape of an amount.
    static func amount(_ value: Shape, _ currency: Shape) -> Shape {
        object(["value": value.noted("Minor units, 3990 for 39.90.").shown("3990"), "currency": currency])
    }

    /// - Parameter pattern: a regular expression that must match the whole text.
    static func string(_ length: ClosedRange<Int>, pattern: String? = nil) -> Shape {
        Shape(.string(format: nil, length: length, pattern: pattern))
    }
    static func integer(_ range: ClosedRange<Int64>) -> Shape { Shape(.integer(range)) }
    static func list(_ element: Shape, _ count: ClosedRange<Int>? = nil, isSet: Bool = false) -> Shape {
        Shape(.list(element, count: count, isSet: isSet))
    }
    static func map(_ value: Shape, keys: Shape? = nil, _ count: ClosedRange<Int>? = nil) -> Shape {
        Shape(.map(value, keys: keys, count: count))
    }
    static func oneOf(_ shapes: [Shape], by member: String? = nil) -> Shape { Shape(.oneOf(shapes, by: member)) }
    static func named(_ name: String, _ shape: Shape) -> Shape { Shape(.named(name, shape)) }

    /// A Paydesk id with its prefix.
    static func id(_ prefix: String) -> Shape {
        string.noted("\(prefix)_…").shown("\"\(prefix)_01jdgk4zs8f4d9v3qkr6t2m7hx\"")
    }

    static func words(_ words: String...) -> Shape { Shape(.words(words)) }
    static func words(_ words: [String]) -> Shape { Shape(.words(words)) }

    /// A word of a closed list.
    static func words<Word: RawRepresentable<String> & CaseIterable>(_: Word.Type) -> Shape {
        Shape(.words(Word.allCases.map(\.rawValue)))
    }

    /// - Parameter optional: the members that may be absent.
    static func object(
        _ members: KeyValuePairs<String, Shape>, optional: KeyValuePairs<String, Shape> = [:]
    ) -> Shape {
        Shape(
            .object(
                members.map { Member(name: $0.key, shape: $0.value, isRequired: true) }
                    + optional.map { Member(name: $0.key, shape: $0.value, isRequired: false) }))
    }

    var orNull: Shape {
        var shape = self
        shape.isNullable = true
        return shape
    }

    func noted(_ note: String) -> Shape {
        var shape = self
        shape.note = note
        return shape
    }

    /// Returns the shape with an example in JSON text; a test compares every example with its shape.
    func shown(_ json: String) -> Shape {
        var shape = self
        shape.example = (try? JSONDecoder().decode(JSONValue.self, from: Data(json.utf8))) ?? .null
        return shape
    }

    /// Returns an object's shape with further members.
    func adding(_ members: KeyValuePairs<String, Shape>, optional: KeyValuePairs<String, Shape> = [:]) -> Shape {
        guard case .object(let own) = form, case .object(let more) = Shape.object(members, optional: optional).form
        else { return self }
        var shape = self
        shape.form = .object(own + more)
        return shape
    }
}
