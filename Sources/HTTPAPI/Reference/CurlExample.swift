import Domain
import HTTPTypes

/// A call of a route in a shell, with `$PAYDESK` as the server's address.
enum CurlExample {
    static func text(of route: Route) -> String {
        var lines = ["curl\(method(of: route)) \"$PAYDESK\(path(of: route))\(query(of: route))\""]
        lines += credentials(of: route).map { "-H \"\($0)\"" }
        if route.description.tag?.name == Route.Tag.console.name {
            lines += ["-H \"X-Paydesk-Console: 1\"", "-b \"\(ConsoleDoor.cookie)=$COOKIE\""]
        }
        if route.honoursKeys { lines.append("-H \"Idempotency-Key: $(date +%s)\"") }
        switch route.description.body {
        case .json(let shape)?:
            lines.append("-H \"Content-Type: application/json\"")
            lines.append("-d \(quoted(JSONExample.text(shape.exampleValue(isRequest: true))))")
        case .other?: lines.append("--data-binary @body")
        case nil: break
        }
        return lines.joined(separator: " \\\n  ")
    }

    /// The option that names the method; none for GET, and for a POST that has a body.
    private static func method(of route: Route) -> String {
        switch route.method {
        case .get: ""
        case .post where route.description.body != nil: ""
        default: " -X \(route.method.rawValue)"
        }
    }

    private static func path(of route: Route) -> String {
        var path = route.path
        for name in route.parameterNames {
            guard case .string(let value) = Route.pathExample(name, route.path) else { continue }
            path.replace("{\(name)}", with: value)
        }
        return path
    }

    private static func query(of route: Route) -> String {
        let required = route.description.query.filter(\.isRequired).map { query in
            let value = query.shape.exampleValue(query.name)
            return if case .string(let text) = value { "\(query.name)=\(text)" } else {
                "\(query.name)=\(JSONExample.text(value))"
            }
        }
        return required.isEmpty ? "" : "?" + required.joined(separator: "&")
    }

    private static func credentials(of route: Route) -> [String] {
        switch route.access {
        case .anyone: []
        case .user, .session, .userOrAnyone: ["Authorization: Bearer $TOKEN"]
        case .key where route.description.tag?.name == Route.Tag.console.name: []
        case .key: ["Authorization: Bearer $KEY"]
        }
    }

    /// Returns the text as one word of a shell (POSIX.1-2024, Shell Command Language, section 2.2.2).
    private static func quoted(_ text: String) -> String { "'\(text.replacing("'", with: #"'\''"#))'" }
}
