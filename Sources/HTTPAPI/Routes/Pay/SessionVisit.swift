import Domain
import Gateway
import HTTPTypes
import Pages

/// The browser of a request to the page of a session.
enum SessionVisit: Sendable {
    /// Without the session's cookie.
    case elsewhere
    /// The session has ended.
    case expired
    case own(AuthenticatedSession, token: String)
}

// Entering the page of a session, and finding it again by the browser's cookie.
extension CashierPages {
    /// Makes a page that tells nothing of any session.
    typealias BarePage = @Sendable (Call, PageState, HTTPResponse.Status) async throws(GatewayError) -> Answer

    /// Leads from an address with a token to the page of its session; a token opens its own purpose's page only.
    func enter(
        _ call: Call, _ purpose: Session.Purpose, bare: BarePage
    ) async throws(GatewayError) -> Answer {
        try charge(call)
        let token = try call.parameter("token")
        switch try await gateway.sessions.find(token: token) {
        case .open(let caller) where caller.purpose == purpose:
            let id = caller.id.rawValue
            return Self.redirect(SessionDoor.path(id, purpose), [door.cookie(token, of: id, purpose)])
        case .expired(purpose): return try await bare(call, .expired, .gone)
        case .open, .expired, .unknown: return try await bare(call, .unknown, .notFound)
        }
    }

    /// Finds the session of the path by the browser's cookie.
    func visit(_ call: Call, _ purpose: Session.Purpose) async throws(GatewayError) -> SessionVisit {
        let id = try call.parameter("session")
        for token in SessionDoor.tokens(call.request.headerFields) {
            switch try await gateway.sessions.find(id, token: token, purpose: purpose) {
            case .unknown: continue
            case .expired: return .expired
            case .open(let caller): return .own(caller, token: token)
            }
        }
        return .elsewhere
    }
}
