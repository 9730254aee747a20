import Crypto
import Domain
import FoundationEssentials

/// UUIDs of version 5 (RFC 9562 section 5.5): the same name always has the same one.
enum NameUUID {
    /// Paydesk's own namespace, chosen once.
    private static let namespace: [UInt8] = [
        0x8D, 0x1F, 0x0C, 0x5A, 0x6B, 0x27, 0x4E, 0x93, 0xB4, 0x0E, 0x52, 0xD7, 0x31, 0xA9, 0xC6, 0x04,
    ]

    /// Returns a name's UUID in lower case.
    static func text(_ name: String) -> String {
        UUIDText.text(
            Array(Insecure.SHA1.hash(data: Data(namespace + Array(name.utf8))).prefix(16)), version: 5)
    }
}
