import Domain
import Foundation
import Gateway
import HTTPAPI

/// What `serve` says on standard output once it listens: the address and, in development, how to begin.
enum Greeting {
    static func make(_ composition: Composition) async throws -> String {
        let configuration = composition.configuration
        var lines = ["Paydesk \(Release.version) serves \(configuration.http.publicURL)"]
        guard configuration.isDevelopment else { return lines[0] }
        if try await !composition.gateway.hasAdminKey() {
            let context = CallContext(
                actor: .system("serve"), requestID: composition.gateway.ids.make(Domain.Request.self).rawValue)
            let issued = try await composition.gateway.createKey(
                name: "development", partner: nil, scopes: [Scope.admin.rawValue], context: context)
            lines.append("Admin key, shown once: \(issued.key)")
        }
        let url = configuration.http.publicURL
        lines.append(
            "Try: curl -s \(url)/v1/public/products -H \"Authorization: Bearer $(paydesk token --user alice)\"")
        return lines.joined(separator: "\n")
    }
}
