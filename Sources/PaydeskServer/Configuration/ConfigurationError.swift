/// Every fault that was found in a configuration folder or a catalogue file.
package struct ConfigurationError: Error, Sendable, Equatable, CustomStringConvertible {
    package let faults: [ConfigurationFault]

    package init(_ faults: [ConfigurationFault]) { self.faults = faults }

    /// A line for each fault.
    package var description: String { faults.map(\.description).joined(separator: "\n") }
}

/// A fault: its position, the problem and the remedy; the value of a secret is never part of it.
package struct ConfigurationFault: Sendable, Equatable, CustomStringConvertible {
    /// Relative to the configuration folder, `providers/apple-iap.yaml`.
    package let file: String
    /// The number of the line, from 1; nil where the fault belongs to no line.
    package let line: Int?
    /// `http.port`, `settings.apps[0].bundle_id`; empty for the whole file.
    package let key: String
    package let problem: String
    package let remedy: String

    package init(file: String, line: Int? = nil, key: String = "", problem: String, remedy: String) {
        self.file = file
        self.line = line
        self.key = key
        self.problem = problem
        self.remedy = remedy
    }

    /// `paydesk.yaml:4: http.port: is not a whole number; write one from 1 to 65535`.
    package var description: String {
        let place = file + (line.map { ":\($0)" } ?? "")
        let text = [place, key.isEmpty ? nil : key, "\(problem); \(remedy)"].compactMap(\.self).joined(separator: ": ")
        return text.split(whereSeparator: \.isNewline).joined(separator: " ")
    }
}

/// The position of a value: its file, line and key path.
struct ConfigPath: Sendable {
    let file: String
    var line: Int?
    var path = ""

    init(file: String, line: Int? = nil, path: String = "") {
        self.file = file
        self.line = line
        self.path = path
    }

    func member(_ key: String, line: Int?) -> ConfigPath {
        let step = key.isEmpty ? "\"\"" : key
        return ConfigPath(file: file, line: line ?? self.line, path: path.isEmpty ? step : "\(path).\(step)")
    }

    func element(_ index: Int, line: Int?) -> ConfigPath {
        ConfigPath(file: file, line: line ?? self.line, path: "\(path)[\(index)]")
    }
}
