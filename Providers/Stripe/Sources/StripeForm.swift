import Domain
import FoundationEssentials

/// A value in Stripe's form encoding: `a[b]=`, arrays always indexed, booleans `true` and `false`.
indirect enum StripeParameter: Sendable, Equatable {
    case text(String)
    case integer(Int64)
    case boolean(Bool)
    case list([StripeParameter])
    case map(StripeForm)

    static func texts(_ texts: [String]) -> StripeParameter { .list(texts.map { .text($0) }) }
}

/// The parameters of a call in their order, as the body of a POST or the query of a GET.
struct StripeForm: Sendable, Equatable {
    private struct Member: Sendable, Equatable {
        let name: String
        let value: StripeParameter
    }

    private var members: [Member] = []

    /// - Parameter members: the parameters; nil ones are left out.
    init(_ members: [(name: String, value: StripeParameter?)] = []) {
        self.members = members.compactMap { member in member.value.map { Member(name: member.name, value: $0) } }
    }

    /// Adds a parameter; nil is left out.
    mutating func set(_ name: String, _ value: StripeParameter?) {
        if let value { members.append(Member(name: name, value: value)) }
    }

    /// The form as `application/x-www-form-urlencoded`, with literal brackets like in Stripe's own libraries.
    var encoded: String {
        members.flatMap { Self.pairs(PercentEncoding.encoded($0.name), $0.value) }.map { "\($0)=\($1)" }.joined(
            separator: "&")
    }

    private static func pairs(_ name: String, _ value: StripeParameter) -> [(String, String)] {
        switch value {
        case .text(let text): [(name, PercentEncoding.encoded(text))]
        case .integer(let number): [(name, String(number))]
        case .boolean(let value): [(name, value ? "true" : "false")]
        case .list(let elements): elements.enumerated().flatMap { pairs("\(name)[\($0)]", $1) }
        case .map(let form): form.members.flatMap { pairs("\(name)[\(PercentEncoding.encoded($0.name))]", $0.value) }
        }
    }
}
