import Domain
public import FoundationEssentials

/// Decodes a peer's JSON about money; a text in which an object has a member twice is refused, because its author and
/// its reader could understand different amounts (RFC 8259 section 4).
public enum UnambiguousJSON {
    /// - Throws: `DecodingError`, also for a repeated member.
    public static func decode<Value: Decodable>(_: Value.Type, from json: Data) throws -> Value {
        guard !JSONTree.isAmbiguous(Array(json)) else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: [], debugDescription: "not JSON, or a member stands twice"))
        }
        return try JSONDecoder().decode(Value.self, from: json)
    }
}
