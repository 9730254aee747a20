import SwiftASN1

/// Files that hold PEM or DER.
enum PEMText {
    /// The documents of a PEM file with their labels; one without a label for DER.
    ///
    /// - Returns: nil for anything else.
    static func documents(_ bytes: [UInt8]) -> [(label: String?, der: [UInt8])]? {
        guard bytes.count <= limit else { return nil }
        // An ASN.1 SEQUENCE; text does not begin with this digit.
        if bytes.first == 0x30 { return [(nil, bytes)] }
        // Editors of some systems end lines with a carriage return as well.
        guard let text = String(validating: bytes.filter { $0 != 0x0D }, as: UTF8.self),
            let documents = try? PEMDocument.parseMultiple(pemString: text)
        else { return nil }
        return documents.map { ($0.discriminator, $0.derBytes) }
    }

    /// Bytes of a file: a certificate and its key have some four thousand.
    private static let limit = 65_536
}
