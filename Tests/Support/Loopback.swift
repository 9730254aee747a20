import Foundation

/// A listening TCP socket on 127.0.0.1.
struct LoopbackListener: Sendable {
    let descriptor: Int32
    let port: UInt16

    /// - Parameter port: 0 lets the kernel choose.
    init(port: UInt16 = 0) throws {
        let descriptor = Loopback.socket()
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var address = Loopback.address(port)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) == 0 && listen(descriptor, 64) == 0
                    && getsockname(descriptor, address, &length) == 0
            }
        }
        guard isBound else {
            _ = Foundation.close(descriptor)
            throw PostgresCluster.Failure(description: "cannot listen on 127.0.0.1:\(port)")
        }
        self.descriptor = descriptor
        self.port = UInt16(bigEndian: address.sin_port)
    }

    /// Waits for the next connection.
    ///
    /// - Returns: nil when the listener was shut down.
    func accept() -> Int32? {
        let accepted = Foundation.accept(descriptor, nil, nil)
        return accepted >= 0 ? accepted : nil
    }

    func close() { _ = Foundation.close(descriptor) }
}

/// Blocking TCP calls to 127.0.0.1.
enum Loopback {
    static func socket() -> Int32 {
        #if os(Linux)
            Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        #else
            Foundation.socket(AF_INET, SOCK_STREAM, 0)
        #endif
    }

    static func address(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    /// Connects to a port; nil when no process listens there.
    static func connect(_ port: UInt16) -> Int32? {
        let descriptor = socket()
        var address = address(port)
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                Foundation.connect(descriptor, address, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else {
            close(descriptor)
            return nil
        }
        return descriptor
    }

    /// Waits for the peer's next bytes; nil at the end of the stream.
    static func receive(_ descriptor: Int32) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return count > 0 ? Array(buffer.prefix(count)) : nil
    }

    /// Makes a write to a closed connection an error instead of a signal that ends the process.
    private static var withoutSignal: Int32 { Int32(MSG_NOSIGNAL) }

    /// Sends all bytes; false when the peer has closed the connection.
    static func send(_ descriptor: Int32, _ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                Foundation.send(descriptor, buffer.baseAddress.map { $0 + sent }, bytes.count - sent, withoutSignal)
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }
}
