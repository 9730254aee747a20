/// An id or a code, which JSON has as its text; another text than one of its form does not decode.
public protocol TextCodable: Codable {
    var rawValue: String { get }

    /// - Returns: nil unless the text has the form.
    init?(_ text: String)
}

extension TextCodable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let value = Self(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "is not an id of this kind")
        }
        self = value
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}
