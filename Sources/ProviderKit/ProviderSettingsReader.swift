import Domain

/// Reads an account's settings and gathers every fault, so that an operator mends them all at once.
///
/// A fault names a setting and never its value. One reader serves one account's initialiser: read all settings, then call
/// ``check()``.
public final class ProviderSettingsReader {
    /// The part of an address behind its host.
    public enum AddressPath: Sendable {
        /// Any path, without the slashes at its end.
        case any
        /// No path: the service signs whole paths, or adds its own.
        case none
        /// Any path as it is written, `/` where it has none.
        case kept
    }

    public let settings: ProviderSettings
    public let isDevelopment: Bool
    public private(set) var faults: [ProviderSetupError.Fault] = []

    public init(_ account: ProviderAccount) {
        settings = account.settings
        isDevelopment = account.isDevelopment
    }

    /// Adds a fault: the setting's path, what is wrong ("is missing"), and how to mend it.
    public func fault(_ setting: String, _ problem: String, _ remedy: String) {
        faults.append(.init(setting: setting, problem: problem, remedy: remedy))
    }

    /// Ends the reading.
    ///
    /// - Throws: every fault so far.
    public func check() throws(ProviderSetupError) {
        guard faults.isEmpty else { throw ProviderSetupError(faults) }
    }

    /// A choice among words; the standard one where it is absent and where it is none of them, which is a fault.
    public func choice<Word: RawRepresentable<String>>(_ name: String, of words: [Word], default standard: Word) -> Word
    {
        let text = settings.text(name)
        if let word = words.first(where: { $0.rawValue == text }) { return word }
        if !text.isEmpty {
            let known = words.map(\.rawValue)
            let list = known.count < 2 ? known : [known.dropLast().joined(separator: ", ")] + known.suffix(1)
            fault(name, "is not one of its words", "use \(list.joined(separator: " or "))")
        }
        return standard
    }

    /// The words of a list, or the one of an older setting, which may not stand beside it.
    ///
    /// Words that the schema does not allow are refused before.
    public func choices<Word: RawRepresentable<String> & CaseIterable>(
        _ list: String, orElse single: String, default standard: Word
    ) -> [Word] {
        guard settings[list] != nil else { return [choice(single, of: Array(Word.allCases), default: standard)] }
        if settings[single] != nil { fault(single, "stands beside \(list)", "leave one of the two out") }
        let words = settings.texts(list).compactMap(Word.init)
        if words.isEmpty { fault(list, "is empty", "name at least one, or leave it out") }
        return words
    }

    /// A text of so many bytes, each of which passes the test; a fault says that it is missing or of a wrong form.
    ///
    /// - Parameter isAllowed: by default printable ASCII without spaces, as keys and identifiers are.
    public func text(
        _ name: String, _ count: ClosedRange<Int>, _ remedy: String,
        where isAllowed: (UInt8) -> Bool = { (0x21...0x7E).contains($0) }
    ) -> String {
        let text = settings.text(name)
        if !text.hasBytes(count, where: isAllowed) {
            fault(name, text.isEmpty ? "is missing" : "is of a wrong form", remedy)
        }
        return text
    }

    /// The address of a service: scheme, host and path alone, and https except in development.
    ///
    /// - Parameter standard: is read where the setting is absent; nil where it has to be there.
    /// - Returns: the address as ``AddressPath`` says; empty, or the standard one, after a fault.
    public func address(
        _ name: String, default standard: String? = nil, path: AddressPath = .any, _ remedy: String
    ) -> String {
        let text = settings.text(name)
        guard let address = Self.address(text.isEmpty ? standard ?? "" : text, path) else {
            let isMissing = text.isEmpty && standard == nil
            fault(name, isMissing ? "is missing" : "is no plain web address", remedy)
            return standard ?? ""
        }
        if !isDevelopment, !address.hasPrefix("https://") {
            fault(name, "is without https, which is for development only", "use https")
        }
        return address
    }

    private static func address(_ text: String, _ path: AddressPath) -> String? {
        guard let address = WebAddress(text), address.isWeb, !address.rest.contains(where: { "?#".contains($0) }) else {
            return nil
        }
        switch path {
        case .none: return ["", "/"].contains(address.rest) ? address.origin : nil
        case .kept: return address.origin + (address.rest.isEmpty ? "/" : address.rest)
        case .any:
            var path = address.rest[...]
            while path.hasSuffix("/") { path.removeLast() }
            return address.origin + path
        }
    }

    /// An IP address; nil where it is absent.
    public func ipAddress(_ name: String) -> String? {
        let text = settings.text(name)
        guard !text.isEmpty else { return nil }
        if IPAddress(text) == nil { fault(name, "is no IP address", "leave it out, or write one such as 203.0.113.1") }
        return text
    }
}
