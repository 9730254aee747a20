import Domain
import HTTPTypes

/// The callers of routes that have no login because only this machine may use them (`docs/development.md`).
///
/// The connection's other end must be a loopback address, and the request must not have been forwarded: a proxy on this
/// machine is no caller of this machine. A loopback `Host` keeps out pages whose name was rebound to loopback. `Origin`
/// and a media type that no form can send keep out every page that this server has not served.
struct LocalCallers: Sendable {
    /// The reason why a caller is refused.
    enum Refusal: Sendable, Equatable, CaseIterable {
        case peer, forwarded, host, origin, mediaType
    }

    let servesTLS: Bool

    /// - Returns: nil for a caller that is admitted.
    func refusal(of request: HTTPRequest, from: ClientAddress) -> Refusal? {
        guard from.isLoopback else { return .peer }
        let headers = request.headerFields
        guard !headers.contains(where: { ["forwarded", "x-forwarded-for"].contains($0.name.canonicalName) }) else {
            return .forwarded
        }
        guard let host = request.authority, Loopback.isOrigin("http://\(host)") else { return .host }
        // Several headers of this name are one text with commas, which no origin is.
        if let origin = headers[.origin], origin != "\(servesTLS ? "https" : "http")://\(host)" { return .origin }
        // A page can send a token only after a preflight, which no foreign origin passes.
        let mustSayJSON = request.method == .post && headers[.authorization] == nil
        if mustSayJSON, headers[.contentType] != "application/json" { return .mediaType }
        return nil
    }
}

extension LocalCallers.Refusal {
    var english: String {
        switch self {
        case .peer: "Only programs of the machine that runs Paydesk may call this."
        case .forwarded: "This may not be called through a proxy."
        case .host: "The Host must be this machine's: 127.0.0.1, [::1] or localhost."
        case .origin: "The Origin must be this server's own, or absent."
        case .mediaType: "The Content-Type must be application/json."
        }
    }

    var chinese: String {
        switch self {
        case .peer: "仅限运行 Paydesk 的本机程序调用。"
        case .forwarded: "不允许通过代理调用。"
        case .host: "Host 必须是本机地址：127.0.0.1、[::1] 或 localhost。"
        case .origin: "Origin 必须是本服务自身的来源，或不提供。"
        case .mediaType: "Content-Type 必须是 application/json。"
        }
    }
}
