import Domain
import Foundation

/// A request to the box's server API, as the HTTP layer parsed it.
package struct ServerAPIRequest: Sendable {
    package let method: String
    /// The path below the base, decoded: `/inApps/v1/transactions/900000000000000001`.
    package let path: String
    /// The query's pairs, decoded, in their order; a name may repeat.
    package let query: [(name: String, value: String)]
    /// The value of the header `Authorization`; nil where there is none.
    package let authorization: String?
    package let body: [UInt8]

    package init(
        method: String, path: String, query: [(name: String, value: String)] = [], authorization: String? = nil,
        body: [UInt8] = []
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.authorization = authorization
        self.body = body
    }

    /// - Parameter query: the query as it was sent, percent-encoded, without its `?`.
    package init(method: String, path: String, query: String, authorization: String?, body: [UInt8]) {
        let pairs = query.split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (name: Self.decoded(parts[0]), value: parts.count == 2 ? Self.decoded(parts[1]) : "")
        }
        self.init(
            method: method, path: Self.decoded(path[...]), query: pairs, authorization: authorization, body: body)
    }

    /// Decodes percent-encoded text; a fault in it leaves it as it is.
    private static func decoded(_ text: Substring) -> String {
        text.removingPercentEncoding ?? String(text)
    }

    /// Returns whether a path below the base is one of Apple's server API.
    ///
    /// The rest below the base belongs to the box's own page and calls.
    package static func isServerAPI(_ path: String) -> Bool {
        path == "/verifyReceipt" || path.hasPrefix("/inApps/") || path.hasPrefix("/externalPurchase/")
    }

    func values(_ name: String) -> [String] { query.filter { $0.name == name }.map(\.value) }

    func value(_ name: String) -> String? { query.first { $0.name == name }?.value }

    /// Reads the body as JSON.
    ///
    /// - Throws: `generalBadRequest` for anything else than this object.
    func read<Body: Decodable>(_ type: Body.Type) throws(AppleError) -> Body {
        guard let value = try? JSONDecoder().decode(type, from: Data(body)) else { throw .generalBadRequest }
        return value
    }
}

/// The answer of the box's server API.
package struct ServerAPIAnswer: Sendable, Equatable {
    package let status: Int
    /// The headers besides the length: `Content-Type`, and `Retry-After` or `Allow`.
    package let headers: [String: String]
    package let body: [UInt8]

    /// An answer in JSON.
    static func json(_ value: some Encodable, status: Int = 200, headers: [String: String] = [:]) -> Self {
        // A value of ours that JSON cannot say would be a fault of the program, which Apple's general error states.
        guard let body = try? JSONText.encoded(value) else {
            return Self(status: 500, headers: ["Content-Type": "application/json"], body: AppleError.internalBody)
        }
        return Self(
            status: status, headers: headers.merging(["Content-Type": "application/json"]) { mine, _ in mine },
            body: Array(body))
    }

    static func text(_ status: Int, _ text: String, headers: [String: String] = [:]) -> Self {
        Self(
            status: status, headers: headers.merging(["Content-Type": "text/plain"]) { mine, _ in mine },
            body: Array(text.utf8))
    }

    /// Accepted, without a body.
    static let accepted = Self(status: 202, headers: [:], body: [])
}
