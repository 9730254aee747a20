import Domain
import HTTPTypes
package import Hummingbird
import NIOCore

/// A request's context with the address of the connection's other end.
package struct PeerContext: RequestContext {
    package var coreContext: CoreRequestContextStorage
    let peer: SocketAddress?

    package init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        peer = source.channel.remoteAddress
    }
}

/// The client's address: the connection's other end, or the one that trusted proxies report.
struct ClientAddress: Sendable {
    let peer: SocketAddress?
    let trustedProxies: [CIDR]

    /// Returns the first address that is not a trusted proxy, counted backwards from the connection.
    ///
    /// Addresses that a client forges in these headers stand left of what the nearest trusted proxy appends and are
    /// never reached. A proxy appends to one of the two headers and passes the other on unchanged: where both are
    /// present and disagree, neither is believed (`Forwarded`: RFC 7239 section 4).
    /// - Returns: nil where the address is unknown.
    func address(_ headers: HTTPFields) -> IPAddress? {
        guard let peer = peer?.ipAddress.flatMap({ IPAddress(String($0.prefix { $0 != "%" })) })?.unmapped else {
            return nil
        }
        guard isTrusted(peer) else { return peer }
        let chains = [Self.forwardedFor(headers), Self.forwarded(headers)].filter { !$0.isEmpty }
        let found = Set(chains.map { client(of: peer, $0) })
        return chains.isEmpty ? peer : found.count == 1 ? found.first ?? nil : nil
    }

    /// True where the connection's other end is this machine, whatever a proxy reports.
    var isLoopback: Bool {
        guard var address = peer?.ipAddress else { return false }
        // An IPv4 client of an IPv6 listener (RFC 4291 section 2.5.5.2).
        if address.lowercased().hasPrefix("::ffff:") { address.removeFirst("::ffff:".count) }
        return WebAddress.isLoopback(host: address)
    }

    private func isTrusted(_ address: IPAddress) -> Bool { trustedProxies.contains { $0.contains(address) } }

    /// - Parameter hops: the addresses in the order of the header, the farthest first; nil for a hop without an
    ///   address.
    private func client(of peer: IPAddress, _ hops: [IPAddress?]) -> IPAddress? {
        var address = peer
        for hop in hops.reversed() {
            guard isTrusted(address) else { break }
            guard let hop else { return nil }
            address = hop
        }
        return address
    }

    private static func values(_ name: String, _ headers: HTTPFields) -> [String] {
        headers.filter { $0.name.canonicalName == name }.map(\.value)
    }

    private static func forwardedFor(_ headers: HTTPFields) -> [IPAddress?] {
        values("x-forwarded-for", headers).flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }
            .map { node(trimmed($0)) }
    }

    private static func forwarded(_ headers: HTTPFields) -> [IPAddress?] {
        values("forwarded", headers).flatMap { split($0[...], at: ",") }.map { element in
            for pair in split(element, at: ";") {
                let parts = pair.split(separator: "=", maxSplits: 1)
                guard parts.count == 2, trimmed(parts[0]).lowercased() == "for" else { continue }
                let value = trimmed(parts[1])
                let isQuoted = value.count >= 2 && value.hasPrefix("\"") && value.hasSuffix("\"")
                return node(isQuoted ? String(value.dropFirst().dropLast()) : value)
            }
            return nil
        }
    }

    /// Reads an address with or without a port: `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1`, `[2001:db8::1]:80`.
    private static func node(_ text: String) -> IPAddress? {
        if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
            let port = text[text.index(after: end)...]
            let inside = text[..<end].dropFirst()
            guard inside.contains(":"), port.isEmpty || isPort(port) else { return nil }
            return IPAddress(String(inside))?.unmapped
        }
        if let colon = text.lastIndex(of: ":"), isPort(text[colon...]), text.firstIndex(of: ":") == colon {
            return IPAddress(String(text[..<colon]))
        }
        return IPAddress(text)?.unmapped
    }

    private static func isPort(_ text: Substring) -> Bool {
        text.first == ":" && (2...6).contains(text.utf8.count)
            && text.utf8.dropFirst().allSatisfy(\.isDigit)
    }

    /// Splits at a separator outside of quotes.
    private static func split(_ text: Substring, at mark: Character) -> [Substring] {
        var isQuoted = false
        return text.split(omittingEmptySubsequences: false) { character in
            if character == "\"" { isQuoted.toggle() }
            return character == mark && !isQuoted
        }
    }

    private static func trimmed(_ text: Substring) -> String {
        func isBlank(_ character: Character) -> Bool { character == " " || character == "\t" }
        return String(text.drop(while: isBlank).reversed().drop(while: isBlank).reversed())
    }
}
