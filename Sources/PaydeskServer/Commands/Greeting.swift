import Domain
import Foundation
import Gateway
import HTTPAPI

/// The text of `serve` on standard output once it listens: the address and, in development, the first commands.
enum Greeting {
    /// - Parameter folder: the configuration folder as the command line names it.
    static func make(_ composition: Composition, folder: String) async -> String {
        let configuration = composition.configuration
        var lines = ["Paydesk \(Release.version) serves \(configuration.http.publicURL)"]
        guard configuration.isDevelopment else { return lines[0] }
        if let key = try? await firstAdminKey(composition.gateway) { lines.append("Admin key, shown once: \(key)") }
        // Only an external login makes tokens where it has the keys.
        guard case .hs256 = configuration.auth.keys else {
            return (lines + addresses(composition)).joined(separator: "\n")
        }
        let config = folder == CommonOptions.defaultFolder ? "" : " --config \(quoted(folder))"
        let token = "$(\(quoted(CommandLine.arguments.first ?? "paydesk")) token\(config) --user alice)"
        let url = "\(configuration.http.publicURL)/v1/public/products?platform=web"
        lines.append("Try: curl -s \"\(url)\" -H \"Authorization: Bearer \(token)\"")
        return (lines + addresses(composition)).joined(separator: "\n")
    }

    /// Returns the addresses of a development server's pages, which come last.
    ///
    /// The console's link signs in once; it is printed here and never logged.
    private static func addresses(_ composition: Composition) -> [String] {
        let configuration = composition.configuration
        let url = configuration.http.publicURL
        let box = "App Store in a box: \(configuration.boxAddress)"
        let console =
            "Console, opened once within ten minutes: \(url)/console#once="
            + composition.gateway.consoleSessions.makeLink()
        return ["Start page: \(url)/", console] + (configuration.development.appStore ? [box] : []) + [
            "Documents: \(url)/docs"
        ]
    }

    /// Quotes a word for a shell's command line where needed.
    private static func quoted(_ word: String) -> String {
        let isPlain = word.wholeMatch(of: /[A-Za-z0-9\/._-]+/) != nil
        return isPlain ? word : "'\(word.replacing("'", with: "'\\''"))'"
    }

    /// Makes an admin key where there is none, and returns it.
    private static func firstAdminKey(_ gateway: Gateway) async throws -> String? {
        guard try await !gateway.keys.hasAdminKey() else { return nil }
        let context = CallContext(actor: .system("serve"), requestID: gateway.ids.make(Domain.Request.self).rawValue)
        return try await gateway.keys.create(
            name: "development", partner: nil, scopes: [Scope.admin.rawValue], context: context
        ).key
    }
}
