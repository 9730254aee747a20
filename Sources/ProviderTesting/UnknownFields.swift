import Domain
public import FoundationEssentials

/// Fields that a service may add at any time, and that must change nothing.
public enum UnknownFields {
    private static let large = #""kit_unknown_object":{"list":[1,null,true],"text":"x"}"#
    private static let small = #""kit_unknown_text":"x""#

    /// Adds a field to each object of a JSON text: an object to the outermost one, a text to those within, some of
    /// which may be maps of texts.
    ///
    /// - Returns: nil for a text that is no JSON object or array.
    public static func adding(to json: Data) -> Data? {
        let bytes = [UInt8](json)
        guard let begin = bytes.first(where: { !isSpace($0) }), begin == 0x7B || begin == 0x5B else { return nil }
        var altered: [UInt8] = []
        var (isText, isEscaped, isFirst) = (false, false, true)
        for (index, byte) in bytes.enumerated() {
            altered.append(byte)
            if isText {
                isText = isEscaped || byte != 0x22
                isEscaped = !isEscaped && byte == 0x5C
            } else if byte == 0x22 {
                isText = true
            } else if byte == 0x7B {
                altered += Array((isFirst ? large : small).utf8)
                isFirst = false
                if bytes[(index + 1)...].first(where: { !isSpace($0) }) != 0x7D { altered.append(0x2C) }
            }
        }
        return Data(altered)
    }

    /// Replaces every number of a JSON text by -1; a text without numbers is returned as it is.
    static func spoilingNumbers(of json: Data) -> Data {
        var altered: [UInt8] = []
        var (isText, isEscaped, isNumber) = (false, false, false)
        for byte in json {
            let isDigit = byte.isDigit || [0x2B, 0x2D, 0x2E, 0x45, 0x65].contains(byte)
            isNumber = isNumber ? isDigit : !isText && (byte == 0x2D || byte.isDigit)
            if isNumber {
                if altered.last != 0x31 || altered.dropLast().last != 0x2D { altered += [0x2D, 0x31] }
                continue
            }
            altered.append(byte)
            if isText {
                isText = isEscaped || byte != 0x22
                isEscaped = !isEscaped && byte == 0x5C
            } else if byte == 0x22 {
                isText = true
            }
        }
        return Data(altered)
    }

    private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }
}
