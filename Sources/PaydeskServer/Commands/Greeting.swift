import Domain
import Foundation
import Gateway
import HTTPAPI

/// What `serve` says on standard output once it listens: the address and, in development, how to begin.
enum Greeting {
    static func make(_ composition: Composition) async -> String {
        let configuration = composition.configuration
        var lines = ["Paydesk \(Release.version) serves \(configuration.http.publicURL)"]
        guard configuration.isDevelopment else { return lines[0] }
        if let key = try? await firstAdminKey(composition.gateway) { lines.append("Admin key, shown once: \(key)") }
        let token = "$(\(CommandLine.arguments.first ?? "paydesk") token --user alice)"
        let url = "\(configuration.http.publicURL)/v1/public/products?platform=web"
        lines.append("Try: curl -s \"\(url)\" -H \"Authorization: Bearer \(token)\"")
        return lines.joined(separator: "\n")
    }

    /// Makes an admin key where there is none.
    private static func firstAdminKey(_ gateway: Gateway) async throws -> String? {
        guard try await !gateway.hasAdminKey() else { return nil }
        let context = CallContext(actor: .system("serve"), requestID: gateway.ids.make(Domain.Request.self).rawValue)
        return try await gateway.createKey(
            name: "development", partner: nil, scopes: [Scope.admin.rawValue], context: context
        ).key
    }
}
