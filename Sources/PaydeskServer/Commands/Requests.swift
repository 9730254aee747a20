import ArgumentParser
import Domain
import Foundation
import Gateway

/// `paydesk requests`.
struct Requests: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows the last calls of a server's node, newest first, without bodies and secrets.")

    @OptionGroup var access: ServerOptions
    @Option(help: "The template of the path, such as '/v1/public/orders/{id}'.") var route: String?
    @Option(help: "The status of the answer, such as 404.") var status: String?
    @Option(help: "The app's own id of the user.") var user: String?
    @Option(help: "Answered then or later: seconds since 1970, a date, or an ISO 8601 time.") var since: String?
    @Flag(help: "Prints JSON.") var json = false

    func run() async throws {
        try await access.use("paydesk-requests", [.admin]) { client in
            let reply = await client.get(
                "/v1/admin/requests", ["route": route, "status": status, "user": user, "since": since])
            let data = try Self.data(reply)
            if json { return print(try JSONText.line(data)) }
            let found = try JSONDecoder().decode(Found.self, from: JSONText.encoded(data))
            for item in found.items { print(item.line.shownOnOneLine) }
            print("\(found.items.count) calls of \(found.node.shownOnOneLine)")
        }
    }

    /// Returns the data; a filter that the server refuses is wrong usage.
    private static func data(_ reply: ServerClient.Reply) throws(CommandError) -> JSONValue {
        if case .refused(400, _, let message, _) = reply { throw .usage("paydesk: \(message)".shownOnOneLine) }
        return try reply.value
    }

    private struct Found: Decodable {
        let node: String
        let items: [Item]
    }

    private struct Item: Decodable {
        let at: Timestamp
        let method: String
        let route: String?
        let status: Int
        let error: String?
        let duration_ms: Int64
        let caller: String?
        let user_id: String?
        let request_id: String

        var line: String {
            let facts = [
                error, caller, user_id.map { "user \($0)" },
            ].compactMap(\.self).joined(separator: "  ")
            return
                "\(at.iso8601)  \(status)  \(method) \(route ?? "(no route)")  \(duration_ms) ms  \(request_id)  \(facts)"
        }
    }
}
