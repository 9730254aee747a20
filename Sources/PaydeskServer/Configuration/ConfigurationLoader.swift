import Domain
import Foundation
package import ProviderKit

/// Values from the command line, which override the files.
package struct ConfigurationOverrides: Sendable {
    package var host: String?
    package var port: Int?

    package init(host: String? = nil, port: Int? = nil) {
        self.host = host
        self.port = port
    }
}

/// Reads a configuration folder: `paydesk.yaml`, `catalog.yaml` and `providers/*.yaml`, or what the environment has in
/// their place.
package enum ConfigurationLoader {
    /// Loads and checks the whole configuration.
    ///
    /// - Parameters:
    ///   - folder: absolute, or relative to the working directory; not read where the environment has the settings.
    ///   - environment: the variables for `${NAME}`, and those of ``ConfigurationSource``.
    ///   - manifests: the manifest of each kind of provider, by kind.
    ///   - isTest: returns true where an account of the kind with the settings is in its provider's test mode.
    ///   - developmentSecrets: the file of the secrets that development makes; written only when there is no fault.
    /// - Throws: every fault of every file.
    package static func load(
        folder: String, environment: [String: String], manifests: [String: ProviderManifest],
        isTest: (_ kind: String, ProviderSettings) -> Bool = { _, _ in false },
        developmentSecrets: DevelopmentSecretsFile, overrides: ConfigurationOverrides = ConfigurationOverrides()
    ) throws(ConfigurationError) -> Configuration {
        let source = ConfigurationSource(
            folder: folder, environment: environment, workingDirectory: FileManager.default.currentDirectoryPath)
        let reading = ConfigurationReading(folder: source.folder, environment: environment)
        guard let main = source.settings(reading) else { throw ConfigurationError(reading.faults) }
        let read = PaydeskFile.read(main, file: source.settingsName, reading, overrides)
        let accounts = accounts(source, manifests, isTest, reading)
        let catalogue = source.hasCatalogue ? catalogue(reading) : []
        guard var configuration = read, reading.faults.isEmpty else { throw ConfigurationError(reading.faults) }
        configuration.accounts = accounts
        configuration.catalogue = catalogue
        if configuration.isDevelopment { fill(&configuration, from: developmentSecrets, reading) }
        guard reading.faults.isEmpty else { throw ConfigurationError(reading.faults) }
        return configuration
    }

    private static func accounts(
        _ source: ConfigurationSource, _ manifests: [String: ProviderManifest],
        _ isTest: (_ kind: String, ProviderSettings) -> Bool, _ reading: ConfigurationReading
    ) -> [AccountConfiguration] {
        var accounts: [AccountConfiguration] = []
        for file in source.accountFiles(reading) {
            guard let node = reading.document(file),
                let account = AccountFile.read(node, file: file, manifests: manifests, reading)
            else { continue }
            if let (problem, remedy) = AccountFile.checkName(of: account, among: accounts) {
                reading.fault(ConfigPath(file: file, path: "account"), problem, remedy)
                continue
            }
            if let token = account.notifyToken, !token.isEmpty,
                let other = accounts.first(where: { $0.notifyToken == token })
            {
                let place = ConfigPath(file: file, path: "notify_token")
                reading.fault(place, "is the one of \(other.file)", "give each account its own: openssl rand -hex 24")
            }
            if !reading.takesTestAccounts, isTest(account.kind, account.settings) {
                reading.fault(
                    ConfigPath(file: file, path: "settings"), "are those of the provider's test mode",
                    "use live ones, or write allow_test_accounts: true in \(source.settingsName)")
            }
            accounts.append(account)
        }
        return accounts.sorted { $0.id < $1.id }
    }

    /// Reads the SKUs; a missing file means none, because the database holds the catalogue.
    private static func catalogue(_ reading: ConfigurationReading) -> [SKU] {
        guard FileManager.default.fileExists(atPath: reading.absolute(CatalogFile.name)),
            let text = reading.text(ofFile: reading.absolute(CatalogFile.name), at: ConfigPath(file: CatalogFile.name))
        else { return [] }
        do {
            return try CatalogFile.parse(text, file: CatalogFile.name)
        } catch {
            reading.add(error.faults)
            return []
        }
    }

    private static func fill(
        _ configuration: inout Configuration, from file: DevelopmentSecretsFile, _ reading: ConfigurationReading
    ) {
        let nameless = configuration.accounts.filter { $0.notifyToken == "" }.map(\.id.rawValue)
        var needsUserSecret = false
        if case .hs256(let secrets) = configuration.auth.keys {
            needsUserSecret = secrets.allSatisfy(\.wrappedValue.isEmpty)
        }
        guard !nameless.isEmpty || needsUserSecret || configuration.secretKeys.isEmpty else { return }
        do {
            let secrets = try file.secrets(notifyTokensFor: nameless)
            if needsUserSecret { configuration.auth.keys = .hs256([Secret(wrappedValue: secrets.userSecret)]) }
            if configuration.secretKeys.isEmpty, let key = Data(base64Encoded: secrets.encryptionKey) {
                configuration.secretKeys = [key]
            }
            for index in configuration.accounts.indices where configuration.accounts[index].notifyToken == "" {
                configuration.accounts[index].notifyToken =
                    secrets.notifyTokens[configuration.accounts[index].id.rawValue]
            }
        } catch .damaged {
            reading.fault(
                ConfigPath(file: file.path), "is not the file that Paydesk made",
                "restore it, or remove it: new secrets are made, and what the old ones sealed stays closed")
        } catch {
            reading.fault(
                ConfigPath(file: file.path), "cannot be read or written",
                "let Paydesk write there, or set secrets.keys, auth.hs256_secret and each notify_token yourself"
            )
        }
    }
}
