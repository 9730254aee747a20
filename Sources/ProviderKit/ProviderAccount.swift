public import Domain

/// A configured account of a provider: its name and its validated settings.
public struct ProviderAccount: Sendable {
    public let id: AccountID
    public let settings: ProviderSettings
    /// True in development mode, which allows loopback peers, http and test roots.
    public let isDevelopment: Bool
    /// The App Store in a box that this process runs; nil where it runs none.
    public let box: AppStoreBoxAccess?

    public init(id: AccountID, settings: ProviderSettings, isDevelopment: Bool, box: AppStoreBoxAccess? = nil) {
        self.id = id
        self.settings = settings
        self.isDevelopment = isDevelopment
        self.box = box
    }
}

/// The access of an account to the App Store in a box of this process; descriptions do not show the key.
public struct AppStoreBoxAccess: Sendable, CustomStringConvertible, CustomReflectable {
    /// The certificates at which its chains end, as DER.
    public let roots: [[UInt8]]
    public let keyID: String
    public let issuerID: String
    /// The PEM of its In-App Purchase key.
    public let privateKey: String
    /// The base URL of its server API, without a slash at its end.
    public let address: String

    public init(roots: [[UInt8]], keyID: String, issuerID: String, privateKey: String, address: String) {
        self.roots = roots
        self.keyID = keyID
        self.issuerID = issuerID
        self.privateKey = privateKey
        self.address = address
    }

    public var description: String { "AppStoreBoxAccess(\(address))" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The settings of an account, valid by their schema and with defaults; descriptions show no values.
public struct ProviderSettings: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
    private let values: [String: SettingValue]

    public init(_ values: [String: SettingValue]) { self.values = values }

    public subscript(_ name: String) -> SettingValue? { values[name] }

    /// The text of a field; empty where it is absent.
    public func text(_ name: String) -> String {
        guard case .text(let text)? = values[name] else { return "" }
        return text
    }

    public func integer(_ name: String) -> Int64? {
        guard case .integer(let number)? = values[name] else { return nil }
        return number
    }

    public func boolean(_ name: String) -> Bool { values[name] == .boolean(true) }

    /// The texts in a list of texts, choices, urls or paths.
    public func texts(_ name: String) -> [String] {
        guard case .list(let elements)? = values[name] else { return [] }
        return elements.compactMap { if case .text(let text) = $0 { text } else { nil } }
    }

    public func object(_ name: String) -> ProviderSettings {
        guard case .object(let members)? = values[name] else { return ProviderSettings([:]) }
        return ProviderSettings(members)
    }

    public func objects(_ name: String) -> [ProviderSettings] {
        guard case .list(let elements)? = values[name] else { return [] }
        return elements.compactMap { if case .object(let members) = $0 { ProviderSettings(members) } else { nil } }
    }

    public var description: String { "ProviderSettings(\(values.keys.sorted().joined(separator: ", ")))" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The reason why an account cannot be used as configured.
public struct ProviderSetupError: Error, Sendable, Equatable {
    /// A fault: the setting's path, the problem and its correction.
    ///
    /// It never contains the value.
    public struct Fault: Sendable, Equatable {
        public let setting: String
        public let problem: String
        public let remedy: String

        public init(setting: String, problem: String, remedy: String) {
            self.setting = setting
            self.problem = problem
            self.remedy = remedy
        }
    }

    public let faults: [Fault]

    public init(_ faults: [Fault]) { self.faults = faults }
}
