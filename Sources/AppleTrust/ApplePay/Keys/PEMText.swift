import SwiftASN1

/// Files that hold PEM or DER.
enum PEMText {
    /// The documents of a PEM file with their labels, or one document without a label for DER.
    ///
    /// - Returns: nil for anything else.
    static func documents(_ bytes: [UInt8]) -> [(label: String?, der: [UInt8])]? {
        guard bytes.count <= limit else { return nil }
        // DER begins with the tag of a SEQUENCE, 0x30; PEM does not begin with that character, "0".
        if bytes.first == 0x30 { return [(nil, bytes)] }
        // Editors of some systems end lines with a carriage return as well.
        guard let text = String(validating: bytes.filter { $0 != 0x0D }, as: UTF8.self),
            let documents = try? PEMDocument.parseMultiple(pemString: text)
        else { return nil }
        return documents.map { ($0.discriminator, $0.derBytes) }
    }

    /// The most bytes of a file; a certificate with its key has some four thousand.
    private static let limit = 65_536
}
