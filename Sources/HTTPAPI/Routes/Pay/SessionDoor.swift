import Domain
import Gateway
import HTTPTypes
import Pages

/// The cookie of a session's page, and the rules by which a form of the page is accepted (`docs/cashier.md`).
struct SessionDoor {
    static let cookie = "paydesk_session"
    /// The number of session cookies that are looked at; a browser sends those of the longest path first.
    private static let cookieLimit = 3

    let publicURL: String
    let codes: FormCodes

    /// Returns the path of a session's page, below which its cookie is sent.
    static func path(_ session: String, _ purpose: Session.Purpose) -> String {
        purpose == .checkout ? "/pay/s/\(session)" : PortalFrame.path(session)
    }

    /// Returns the `Set-Cookie` that opens the page of a session to one browser.
    func cookie(_ token: String, of session: String, _ purpose: Session.Purpose) -> HTTPField {
        let secure = publicURL.hasPrefix("https://") ? "; Secure" : ""
        let value = "\(Self.cookie)=\(token); Path=\(Self.path(session, purpose)); HttpOnly; SameSite=Lax\(secure)"
        return HTTPField(name: .setCookie, value: value)
    }

    /// Returns the tokens of a request's cookies.
    static func tokens(_ headers: HTTPFields) -> [String] {
        let pairs = headers[values: .cookie].flatMap { $0.split(separator: ";") }
        let own = pairs.map { $0.drop { $0 == " " } }.filter { $0.hasPrefix("\(cookie)=") }
        return own.prefix(cookieLimit).map { String($0.dropFirst(cookie.count + 1)) }
    }

    /// Returns whether a form comes from the session's own page.
    func accepts(_ call: Call, _ form: [String: String], _ session: ID<Session>, _ token: String) -> Bool {
        guard let code = form["csrf"], codes.accepts(code, session, token: token) else { return false }
        return isOwnOrigin(call.request)
    }

    /// Returns whether the headers that browsers add name this server as the origin.
    func isOwnOrigin(_ request: HTTPRequest) -> Bool {
        let headers = request.headerFields
        if let site = headers[.secFetchSite], site != "same-origin" { return false }
        guard let origin = headers[.origin], origin != "null" else { return true }
        let own = request.authority.map { ["https://\($0)", "http://\($0)"] } ?? []
        return (own + [Self.origin(of: publicURL)]).contains(origin)
    }

    /// Returns the scheme, host and port of an address.
    private static func origin(of address: String) -> String {
        let parts = address.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false).prefix(3)
        return parts.joined(separator: "/")
    }
}
