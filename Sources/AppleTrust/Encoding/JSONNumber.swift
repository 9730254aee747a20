import Encodings

/// Whole numbers out of JSON's number syntax, without floating point wherever the text has no exponent.
enum JSONNumber {
    /// The number rounded toward minus infinity; nil outside Int64.
    static func floored(_ text: ArraySlice<UInt8>) -> Int64? {
        guard let (whole, fraction) = split(text) else { return throughDouble(text) }
        guard let value = integer(whole) else { return nil }
        let negative = text.first == UInt8(ascii: "-")
        guard negative, fraction.contains(where: { $0 != UInt8(ascii: "0") }) else { return value }
        let (below, overflow) = value.subtractingReportingOverflow(1)
        return overflow ? nil : below
    }

    /// The number where it is whole; nil for a fraction and outside Int64.
    static func exact(_ text: ArraySlice<UInt8>) -> Int64? {
        guard let (whole, fraction) = split(text), fraction.allSatisfy({ $0 == UInt8(ascii: "0") }) else {
            return nil
        }
        return integer(whole)
    }

    /// The digits before and after the point; nil where there is an exponent.
    private static func split(_ text: ArraySlice<UInt8>) -> (ArraySlice<UInt8>, ArraySlice<UInt8>)? {
        guard !text.contains(where: { $0 | 0x20 == UInt8(ascii: "e") }) else { return nil }
        guard let point = text.firstIndex(of: UInt8(ascii: ".")) else { return (text, []) }
        return (text[..<point], text[(point + 1)...])
    }

    private static func integer(_ text: ArraySlice<UInt8>) -> Int64? {
        let negative = text.first == UInt8(ascii: "-")
        var value: Int64 = 0
        for digit in negative ? text.dropFirst() : text {
            guard digit.isDigit else { return nil }
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            let amount = Int64(digit - 0x30)
            let (sum, carry) =
                negative ? product.subtractingReportingOverflow(amount) : product.addingReportingOverflow(amount)
            guard !overflow, !carry else { return nil }
            value = sum
        }
        return value
    }

    private static func throughDouble(_ text: ArraySlice<UInt8>) -> Int64? {
        guard let value = Double(String(decoding: text, as: UTF8.self)) else { return nil }
        return Int64(exactly: value.rounded(.down))
    }
}
