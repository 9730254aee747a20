import Dispatch
import Domain
import Foundation

/// Asks the system for a host's addresses, on threads of its own: a slow name server must not hold Swift's.
struct HostResolver: Sendable {
    private static let limit = Duration.seconds(5)

    private let queue = DispatchQueue(label: "paydesk-resolver", attributes: .concurrent)

    /// Every address of a host, the preferred first; empty where there is none or no answer in time.
    func addresses(of host: String) async -> [IPAddress] {
        await withTaskGroup(of: [IPAddress].self) { group in
            let (answers, answer) = AsyncStream<[IPAddress]>.makeStream()
            queue.async { answer.yield(Self.ask(host)) }
            // The question goes on after the limit, on its own thread; nobody waits for it.
            group.addTask {
                for await found in answers { return found }
                return []
            }
            group.addTask {
                try? await Task.sleep(for: Self.limit)
                return []
            }
            defer { group.cancelAll() }
            return await group.next() ?? []
        }
    }

    private static func ask(_ host: String) -> [IPAddress] {
        if let literal = IPAddress(host) { return [literal] }
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
