import Domain
import Gateway
import HTTPTypes
import TestSupport
import Testing

@testable import HTTPAPI

extension CounterSetup {
    /// A counter of a development server, which has routes of its own.
    static var development: CounterSetup {
        var setup = CounterSetup()
        setup.desk.isDevelopment = true
        return setup
    }

    /// A counter whose default currency is CNY.
    static var cny: CounterSetup {
        var setup = CounterSetup()
        setup.desk.defaultCurrency = Currency("CNY")
        return setup
    }
}

// Sessions over HTTP.
extension Counter {
    /// Makes a session as its user.
    ///
    /// - Parameter more: further members of the body, each with a comma before it.
    func session(
        _ bearer: String, _ skus: String..., purpose: String = "checkout", more: String = ""
    ) async throws -> JSONValue {
        desk.clock.tick()
        let list = skus.isEmpty ? "" : #","skus":[\#(skus.map { "\"\($0)\"" }.joined(separator: ","))]"#
        let reply = try await post("/v1/public/sessions", bearer, #"{"purpose":"\#(purpose)"\#(list)\#(more)}"#)
        try #require(reply.status == 200, "\(reply)")
        return try reply.data
    }

    /// Reads what a session shows.
    func shown(_ session: JSONValue) async throws -> JSONValue {
        let reply = try await get("/v1/public/session", session.text("token"))
        try #require(reply.status == 200, "\(reply)")
        return try reply.data
    }

    /// Makes a session's checkout and returns its contract.
    func buy(_ session: JSONValue, _ body: String = "{}") async throws -> JSONValue {
        desk.clock.tick()
        let reply = try await post("/v1/public/checkout", session.text("token"), body)
        try #require(reply.status == 200, "\(reply)")
        return try reply.data
    }

    /// Returns the status and the details of a session's refused call.
    func refused(
        _ method: HTTPRequest.Method, _ path: String, _ session: JSONValue, _ body: String? = nil
    ) async throws -> Reply {
        try await send(method, path, session.text("token"), body: body)
    }
}

extension Reply {
    /// `details.reason`.
    var reason: String? { (try? json["details"].text("reason")).flatMap { $0.isEmpty ? nil : $0 } }
}
