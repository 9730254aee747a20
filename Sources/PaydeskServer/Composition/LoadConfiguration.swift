import Foundation
import ProviderKit

extension Configuration {
    /// Loads the configuration of a folder, or throws all its faults as one error.
    static func load(
        _ folder: String, providers: [any PaymentProvider.Type], overrides: ConfigurationOverrides = .init()
    ) throws(CommandError) -> Configuration {
        let types = Dictionary(providers.map { ($0.manifest.kind, $0) }) { first, _ in first }
        do throws(ConfigurationError) {
            return try ConfigurationLoader.load(
                folder: folder, environment: ProcessInfo.processInfo.environment,
                manifests: types.mapValues { $0.manifest },
                isTest: { kind, settings in types[kind]?.isTest(settings) ?? false },
                developmentSecrets: DevelopmentSecretsFile(random: Live.random), overrides: overrides)
        } catch {
            throw .usage("\(error)")
        }
    }
}
