import Domain
import Gateway
import HTTPTypes

/// The console's cookie, and the rules by which a call that carries it is accepted (`docs/api.md` section 14).
struct ConsoleDoor {
    static let cookie = "paydesk_console"
    static let path = "/v1/admin"
    /// The number of cookies of this name that are looked at.
    private static let cookieLimit = 3

    let publicURL: String

    /// Returns the `Set-Cookie` that signs a browser in.
    func opening(_ value: String) -> HTTPField { setCookie(value, maxAge: ConsoleSession.lifetime) }

    /// The `Set-Cookie` that signs a browser out.
    var closing: HTTPField { setCookie("", maxAge: 0) }

    private func setCookie(_ value: String, maxAge: Int64) -> HTTPField {
        let secure = publicURL.hasPrefix("http://") ? "" : "; Secure"
        let text =
            "\(Self.cookie)=\(value); HttpOnly; SameSite=Strict; Path=\(Self.path); Max-Age=\(maxAge)\(secure)"
        return HTTPField(name: .setCookie, value: text)
    }

    /// Returns the values of a request's cookies.
    static func cookies(_ headers: HTTPFields) -> [String] {
        let pairs = headers[values: .cookie].flatMap { $0.split(separator: ";") }
        let own = pairs.map { $0.drop { $0 == " " } }.filter { $0.hasPrefix("\(cookie)=") }
        return own.prefix(cookieLimit).map { String($0.dropFirst(cookie.count + 1)) }.filter { !$0.isEmpty }
    }

    /// Requires the header that no form and no link can send, and of browsers that say so the same origin.
    ///
    /// - Throws: `notFromConsole`.
    static func requireConsole(_ headers: HTTPFields) throws(GatewayError) {
        guard headers[.console] == "1", [nil, "same-origin"].contains(headers[.secFetchSite]) else {
            throw .notFromConsole
        }
    }
}
