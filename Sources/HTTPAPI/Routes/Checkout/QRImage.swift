import CQREncode
import Foundation
import Pages

/// Makes QR codes (ISO/IEC 18004) as SVG with libqrencode.
enum QRImage {
    private static let quietZone = 4

    /// - Returns: nil for text that does not fit into the largest code.
    static func svg(_ text: String) -> String? {
        guard let code = QRcode_encodeString8bit(text, 0, QR_ECLEVEL_M) else { return nil }
        defer { QRcode_free(code) }
        let width = Int(code.pointee.width)
        guard let modules = code.pointee.data else { return nil }
        var path = ""
        for row in 0..<width {
            for column in 0..<width where modules[row * width + column] & 1 == 1 {
                path += "M\(column + quietZone),\(row + quietZone)h1v1h-1z"
            }
        }
        let size = width + 2 * quietZone
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(size) \(size)" shape-rendering="crispEdges">\
            <rect width="\(size)" height="\(size)" fill="#fff"/><path d="\(path)" fill="#000"/></svg>
            """
    }

    /// Makes a code as a black and white PNG of at least 480 pixels.
    ///
    /// - Returns: nil for text that does not fit into the largest code.
    static func png(_ text: String) -> Data? {
        guard let code = QRcode_encodeString8bit(text, 0, QR_ECLEVEL_M) else { return nil }
        defer { QRcode_free(code) }
        let width = Int(code.pointee.width)
        guard let modules = code.pointee.data else { return nil }
        let scale = max(4, 480 / (width + 2 * quietZone))
        return BitmapPNG.square(width: width, quietZone: quietZone, scale: scale) { row, column in
            modules[row * width + column] & 1 == 1
        }
    }
}
