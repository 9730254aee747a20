import Domain
import Foundation

/// The system's resolution of a host's name.
enum SystemNames {
    /// Returns the addresses of a host; blocks the thread until the system has them.
    static func addresses(_ host: String) -> [IPAddress] {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        #if os(Linux)
            hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #else
            hints.ai_socktype = SOCK_STREAM
        #endif
        var first: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, nil, &hints, &first) == 0 else { return [] }
        defer { freeaddrinfo(first) }
        var found: [IPAddress] = []
        var next = first
        while let entry = next?.pointee, found.count < 64 {
            if let address = address(entry), !found.contains(address) { found.append(address) }
            next = entry.ai_next
        }
        return found
    }

    private static func address(_ entry: addrinfo) -> IPAddress? {
        guard let socket = entry.ai_addr else { return nil }
        switch entry.ai_family {
        case AF_INET:
            return socket.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                .v4(UInt32(bigEndian: $0.pointee.sin_addr.s_addr))
            }
        case AF_INET6:
            return socket.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { pointer in
                withUnsafeBytes(of: pointer.pointee.sin6_addr) { bytes in
                    .v6(bytes.reduce(UInt128(0)) { $0 << 8 | UInt128($1) })
                }
            }
        default: return nil
        }
    }
}
