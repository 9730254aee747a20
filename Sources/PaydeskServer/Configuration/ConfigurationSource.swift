import Foundation

/// The place of the settings: a configuration folder, or the environment.
///
/// `PAYDESK_CONFIG_YAML` has the text of `paydesk.yaml`. The configuration folder is not read then: relative paths are
/// relative to the working directory, and there is no catalogue file. `PAYDESK_PROVIDERS_DIR` is the folder of the account
/// files, with either; without it they are those of the configuration folder. A variable that is empty is not set.
struct ConfigurationSource {
    static let textVariable = "PAYDESK_CONFIG_YAML"
    static let accountsVariable = "PAYDESK_PROVIDERS_DIR"

    /// The absolute path of the folder to which relative paths are relative.
    let folder: String
    /// The name of the settings in faults.
    let settingsName: String
    let hasCatalogue: Bool
    private let text: String?
    /// The folder of the account files as faults name it, relative to `folder` or absolute; nil for no accounts.
    private let accounts: String?
    /// True where the account files' folder was named, so that a missing one is a fault.
    private let isAccountsFolderNamed: Bool

    init(folder: String, environment: [String: String], workingDirectory: String) {
        func variable(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        text = variable(Self.textVariable)
        self.folder =
            text == nil ? ConfigurationReading.absolute(folder, in: workingDirectory) : workingDirectory
        settingsName = text == nil ? PaydeskFile.name : Self.textVariable
        hasCatalogue = text == nil
        let named = variable(Self.accountsVariable)
        isAccountsFolderNamed = named != nil
        accounts =
            named.map { ConfigurationReading.absolute($0, in: workingDirectory) } ?? (text == nil ? "providers" : nil)
    }

    /// Parses the settings; nil after a fault.
    func settings(_ reading: ConfigurationReading) -> YAMLNode? {
        if let text { return reading.document(text, of: settingsName) }
        return reading.document(settingsName)
    }

    /// Lists the account files, sorted by name; a missing folder means that there are no accounts, unless it was named.
    func accountFiles(_ reading: ConfigurationReading) -> [String] {
        guard let accounts else { return [] }
        let path = reading.absolute(accounts)
        guard isAccountsFolderNamed || FileManager.default.fileExists(atPath: path) else { return [] }
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else {
            reading.fault(
                ConfigPath(file: accounts), "cannot be read",
                "check that it is a folder that Paydesk may read"
                    + (isAccountsFolderNamed ? "; \(Self.accountsVariable) names it" : ""))
            return []
        }
        let visible = names.filter { !$0.hasPrefix(".") }.sorted()
        for name in visible where name.hasSuffix(".yml") {
            reading.fault(ConfigPath(file: "\(accounts)/\(name)"), "would not be read", "rename it to end in .yaml")
        }
        return visible.filter { $0.hasSuffix(".yaml") }.map { "\(accounts)/\($0)" }
    }
}
