import CZlib
package import Foundation

/// Compression with zlib.
package enum Gzip {
    /// The smallest text that is worth compressing, in bytes.
    private static let least = 256
    private static let gzipWindow: Int32 = 15 + 16

    /// Compresses to the gzip format (RFC 1952).
    ///
    /// - Returns: nil where the result is not smaller.
    package static func compressed(_ data: Data, level: Int32 = 6) -> Data? {
        guard data.count >= least else { return nil }
        var stream = z_stream()
        let size = Int32(MemoryLayout<z_stream>.size)
        guard
            deflateInit2_(&stream, level, Z_DEFLATED, gzipWindow, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size) == Z_OK
        else { return nil }
        defer { deflateEnd(&stream) }
        return run(&stream, data)
    }

    private static func run(_ stream: inout z_stream, _ data: Data) -> Data? {
        var input = [UInt8](data)
        var output = [UInt8](repeating: 0, count: data.count)
        let status = input.withUnsafeMutableBufferPointer { source in
            output.withUnsafeMutableBufferPointer { target in
                stream.next_in = source.baseAddress
                stream.avail_in = UInt32(source.count)
                stream.next_out = target.baseAddress
                stream.avail_out = UInt32(target.count)
                return deflate(&stream, Z_FINISH)
            }
        }
        guard status == Z_STREAM_END else { return nil }
        return Data(output.prefix(Int(stream.total_out)))
    }

    /// Compresses to the zlib format (RFC 1950), which PNG uses.
    static func zlib(_ data: Data) -> Data? {
        var length = compressBound(UInt(data.count))
        var output = [UInt8](repeating: 0, count: Int(length))
        guard compress2(&output, &length, [UInt8](data), UInt(data.count), 9) == Z_OK else { return nil }
        return Data(output.prefix(Int(length)))
    }

    /// Returns the CRC-32 of bytes (ISO 3309), as in PNG.
    static func crc(_ bytes: Data) -> UInt32 {
        UInt32(truncatingIfNeeded: crc32(0, [UInt8](bytes), UInt32(bytes.count)))
    }
}
