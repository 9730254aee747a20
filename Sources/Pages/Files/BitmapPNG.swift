package import Foundation

/// A black and white image as PNG (ISO/IEC 15948).
package enum BitmapPNG {
    /// Makes a square image of square modules.
    ///
    /// - Parameters:
    ///   - width: the modules in a row.
    ///   - quietZone: the white modules around them.
    ///   - scale: the pixels of a module's side.
    ///   - isDark: returns whether the module of a row and column is black.
    package static func square(
        width: Int, quietZone: Int, scale: Int, isDark: (_ row: Int, _ column: Int) -> Bool
    ) -> Data? {
        let side = (width + 2 * quietZone) * scale
        let modules = 0..<width
        var lines = Data()
        for y in 0..<side {
            let row = y / scale - quietZone
            // Each line begins with its filter, 0 for none.
            var line = [UInt8](repeating: 0xFF, count: (side + 7) / 8)
            if modules.contains(row) {
                for x in 0..<side {
                    let column = x / scale - quietZone
                    if modules.contains(column), isDark(row, column) { line[x / 8] &= ~(0x80 >> UInt8(x % 8)) }
                }
            }
            lines.append(0)
            lines.append(contentsOf: line)
        }
        guard let pixels = Gzip.zlib(lines) else { return nil }
        var png = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
        // Greyscale with one bit a pixel.
        png.append(chunk("IHDR", bytes(UInt32(side)) + bytes(UInt32(side)) + Data([1, 0, 0, 0, 0])))
        png.append(chunk("IDAT", pixels))
        png.append(chunk("IEND", Data()))
        return png
    }

    private static func chunk(_ type: String, _ content: Data) -> Data {
        let body = Data(type.utf8) + content
        return bytes(UInt32(content.count)) + body + bytes(Gzip.crc(body))
    }

    private static func bytes(_ number: UInt32) -> Data { withUnsafeBytes(of: number.bigEndian) { Data($0) } }
}
