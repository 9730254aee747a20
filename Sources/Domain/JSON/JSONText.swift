package import FoundationEssentials

/// JSON text in one form: the members in the order of their names, slashes as they are, no white space.
///
/// Equal values have equal bytes, so texts can be compared, signed and sent again.
package enum JSONText {
    /// Writes a value.
    ///
    /// - Throws: an `EncodingError` for a value that JSON cannot say.
    package static func encoded(_ value: some Encodable) throws -> Data {
        if let written = JSONTextEncoder.encoded(value) { return written }
        return try encoder().encode(value)
    }

    /// An encoder of this form, for whoever writes several values.
    package static func encoder() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }

    /// Writes a value as one line of text.
    package static func line(_ value: some Encodable) throws -> String {
        String(decoding: try encoded(value), as: UTF8.self)
    }
}
