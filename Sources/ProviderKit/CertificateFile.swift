import FoundationEssentials

/// Reads certificate files, PEM or DER.
public enum CertificateFile {
    private static let begin = "-----BEGIN CERTIFICATE-----"
    private static let end = "-----END CERTIFICATE-----"

    /// Returns the first certificate of a file as DER.
    ///
    /// - Returns: nil for an empty file and for incomplete PEM; a DER file is returned unchanged, whatever its content.
    public static func der(_ file: [UInt8]) -> [UInt8]? {
        let text = String(decoding: file, as: UTF8.self)
        guard let start = text.firstRange(of: begin) else { return file.isEmpty ? nil : file }
        let body = text[start.upperBound...]
        guard let stop = body.firstRange(of: end) else { return nil }
        let base64 = body[..<stop.lowerBound].filter { !$0.isWhitespace }
        return Data(base64Encoded: String(base64)).map(Array.init)
    }

    /// Returns the file as PEM (RFC 7468): every certificate of a PEM file, or the one of a DER file.
    public static func pem(_ file: [UInt8]) -> [UInt8] {
        guard file.first == 0x30 else { return file }
        let base64 = Array(Data(file).base64EncodedString())
        let lines = stride(from: 0, to: base64.count, by: 64).map { String(base64[$0..<min($0 + 64, base64.count)]) }
        return Array(([begin] + lines + [end, ""]).joined(separator: "\n").utf8)
    }
}
