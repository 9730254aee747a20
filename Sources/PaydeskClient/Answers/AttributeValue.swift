/// A JSON value of an object whose members are free: attributes of a SKU, details of an error.
public enum AttributeValue: Sendable, Equatable, Codable {
    case null
    case flag(Bool)
    case integer(Int64)
    case decimal(Double)
    case text(String)
    case list([AttributeValue])
    case object([String: AttributeValue])

    public init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let flag = try? value.decode(Bool.self) {
            self = .flag(flag)
        } else if let integer = try? value.decode(Int64.self) {
            self = .integer(integer)
        } else if let decimal = try? value.decode(Double.self) {
            self = .decimal(decimal)
        } else if let text = try? value.decode(String.self) {
            self = .text(text)
        } else if let list = try? value.decode([AttributeValue].self) {
            self = .list(list)
        } else {
            self = .object(try value.decode([String: AttributeValue].self))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        switch self {
        case .null: try value.encodeNil()
        case .flag(let flag): try value.encode(flag)
        case .integer(let integer): try value.encode(integer)
        case .decimal(let decimal): try value.encode(decimal)
        case .text(let text): try value.encode(text)
        case .list(let list): try value.encode(list)
        case .object(let object): try value.encode(object)
        }
    }

    /// The text of a text.
    public var text: String? { if case .text(let text) = self { text } else { nil } }
    /// The number of a whole number.
    public var integer: Int64? { if case .integer(let integer) = self { integer } else { nil } }
}

/// An amount in minor units of an ISO 4217 currency.
public struct ClientMoney: Sendable, Equatable, Decodable {
    public let value: Int64
    public let currency: String
}
