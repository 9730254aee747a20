import Foundation
import ProviderKit

extension Configuration {
    /// Loads the configuration of a folder, or throws all its faults as one error.
    static func load(
        _ folder: String, providers: [any PaymentProvider.Type], overrides: ConfigurationOverrides = .init()
    ) throws(CommandError) -> Configuration {
        let manifests = Dictionary(providers.map { ($0.manifest.kind, $0.manifest) }) { first, _ in first }
        do throws(ConfigurationError) {
            return try ConfigurationLoader.load(
                folder: folder, environment: ProcessInfo.processInfo.environment, manifests: manifests,
                developmentSecrets: DevelopmentSecretsFile(random: Live.random), overrides: overrides)
        } catch {
            throw .usage("\(error)")
        }
    }
}
