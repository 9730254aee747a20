import SwiftASN1

/// Writes DER, and BER with indefinite lengths as Apple does, for messages that tests sign.
enum ApplePayDER {
    static func element(_ tag: UInt8, _ parts: [[UInt8]]) -> [UInt8] {
        let content = Array(parts.joined())
        guard content.count >= 0x80 else { return [tag, UInt8(content.count)] + content }
        let octets = Swift.withUnsafeBytes(of: content.count.bigEndian) { Array($0.drop { $0 == 0 }) }
        return [tag, 0x80 | UInt8(octets.count)] + octets + content
    }

    static func indefinite(_ tag: UInt8, _ parts: [[UInt8]]) -> [UInt8] { [tag, 0x80] + parts.joined() + [0, 0] }

    static func sequence(_ parts: [UInt8]...) -> [UInt8] { element(0x30, parts) }
    static func octets(_ bytes: [UInt8]) -> [UInt8] { element(0x04, [bytes]) }
    static let null: [UInt8] = [5, 0]

    static func oid(_ name: ASN1ObjectIdentifier) -> [UInt8] { serialized(name) }

    static func serialized(_ value: some DERSerializable) -> [UInt8] {
        AppleTestCertificates.made {
            var serializer = DER.Serializer()
            try serializer.serialize(value)
            return serializer.serializedBytes
        }
    }

    static func pem(_ label: String, _ der: [UInt8]) -> String {
        PEMDocument(type: label, derBytes: der).pemString + "\n"
    }
}
