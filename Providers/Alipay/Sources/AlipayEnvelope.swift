import FoundationEssentials
import ProviderKit

/// The answer `{"alipay_trade_query_response":{…},"sign":"…"}`, in its exact parts.
///
/// The signed text is the node byte for byte, with its braces and every escape of Alipay's, so it is cut out of the
/// answer and never encoded again.
struct AlipayEnvelope {
    let node: Data
    let signature: String?
    /// The serial number of the certificate with which Alipay signed, in certificate mode.
    let certificateNumber: String?

    /// - Returns: nil unless the body is a JSON object that has the method's node, or `error_response` instead, exactly
    ///   once.
    init?(_ body: Data, method: String) {
        var reader = Reader(bytes: [UInt8](body))
        guard let members = reader.members() else { return nil }
        func value(_ name: String) -> ArraySlice<UInt8>? {
            members.first { $0.name.elementsEqual(name.utf8) }?.value
        }
        let name = method.replacing(".", with: "_") + "_response"
        guard let node = value(name) ?? value("error_response"), node.first == UInt8(ascii: "{") else { return nil }
        self.node = Data(node)
        func text(_ name: String) -> String? {
            value(name).flatMap { try? JSONDecoder().decode(String.self, from: Data($0)) }
        }
        signature = text("sign")
        certificateNumber = text("alipay_cert_sn")
    }

    /// Reads the outermost object only; its values are checked where they are decoded.
    private struct Reader {
        let bytes: [UInt8]
        var place = 0

        private static let memberLimit = 64

        /// - Returns: nil for anything but one object, for a repeated name, too many members, and trailing text.
        mutating func members() -> [(name: ArraySlice<UInt8>, value: ArraySlice<UInt8>)]? {
            guard take("{") else { return nil }
            var members: [(name: ArraySlice<UInt8>, value: ArraySlice<UInt8>)] = []
            if !take("}") {
                repeat {
                    skipSpace()
                    guard let name = string()?.dropFirst().dropLast(), take(":"), let value = value(),
                        members.count < Self.memberLimit, !members.contains(where: { $0.name == name })
                    else { return nil }
                    members.append((name, value))
                } while take(",")
                guard take("}") else { return nil }
            }
            skipSpace()
            return place == bytes.count ? members : nil
        }

        /// Reads a string, an object, an array or a literal; nesting is counted without recursion.
        private mutating func value() -> ArraySlice<UInt8>? {
            skipSpace()
            let begin = place
            var depth = 0
            while place < bytes.count {
                switch bytes[place] {
                case UInt8(ascii: "\""):
                    guard string() != nil else { return nil }
                case UInt8(ascii: "{"), UInt8(ascii: "["):
                    depth += 1
                    place += 1
                case UInt8(ascii: "}") where depth == 0, UInt8(ascii: "]") where depth == 0,
                    UInt8(ascii: ",") where depth == 0:
                    return begin == place ? nil : bytes[begin..<place]
                case UInt8(ascii: "}"), UInt8(ascii: "]"):
                    depth -= 1
                    place += 1
                default: place += 1
                }
                if depth == 0, [UInt8(ascii: "\""), UInt8(ascii: "}"), UInt8(ascii: "]")].contains(bytes[place - 1]) {
                    return bytes[begin..<place]
                }
            }
            return nil
        }

        /// Reads a string with its quotes.
        private mutating func string() -> ArraySlice<UInt8>? {
            let begin = place
            guard place < bytes.count, bytes[place] == UInt8(ascii: "\"") else { return nil }
            place += 1
            while place < bytes.count {
                let byte = bytes[place]
                place += byte == UInt8(ascii: "\\") ? 2 : 1
                if byte == UInt8(ascii: "\"") { return bytes[begin..<place] }
            }
            return nil
        }

        private mutating func take(_ mark: Unicode.Scalar) -> Bool {
            skipSpace()
            guard place < bytes.count, bytes[place] == UInt8(ascii: mark) else { return false }
            place += 1
            return true
        }

        private mutating func skipSpace() {
            while place < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[place]) { place += 1 }
        }
    }
}
