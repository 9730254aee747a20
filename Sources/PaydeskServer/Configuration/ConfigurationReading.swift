import Foundation

/// The state of loading a configuration: the sources of its values, and the faults found so far.
final class ConfigurationReading {
    /// The absolute path of the folder.
    let folder: String
    let environment: [String: String]
    /// Decides which settings are refused; read before the other settings.
    var isDevelopment = true
    /// Allows accounts in a provider's test mode.
    var takesTestAccounts = true
    private(set) var faults: [ConfigurationFault] = []

    init(folder: String, environment: [String: String]) {
        self.folder = folder
        self.environment = environment
    }

    func fault(_ place: ConfigPath, _ problem: String, _ remedy: String) {
        let fault = ConfigurationFault(
            file: place.file, line: place.line, key: place.path, problem: problem, remedy: remedy)
        // A value that is read twice is reported once.
        if !faults.contains(fault) { faults.append(fault) }
    }

    func add(_ more: [ConfigurationFault]) { faults += more }

    /// Parses a file of the folder; nil after a fault.
    func document(_ file: String) -> YAMLNode? {
        text(ofFile: absolute(file), at: ConfigPath(file: file)).flatMap { document($0, of: file) }
    }

    /// Parses the text of a file, or of what stands in its place; nil after a fault.
    func document(_ text: String, of file: String) -> YAMLNode? {
        do {
            return try YAMLNode.parse(text)
        } catch {
            fault(ConfigPath(file: file, line: error.line), error.problem, error.remedy)
            return nil
        }
    }

    /// Reads a file that a setting names; nil after a fault.
    func text(ofFile path: String, at place: ConfigPath) -> String? {
        guard let data = contents(path) else {
            fault(
                place, "names a file that cannot be read, \(path)", "check that it exists and that Paydesk may read it")
            return nil
        }
        guard data.count <= YAMLNode.sizeLimit else {
            fault(place, "names a file larger than 1 MiB", "name another")
            return nil
        }
        guard let text = String(data: data, encoding: .utf8) else {
            fault(place, "names a file that is not UTF-8 text", "name another, or convert it")
            return nil
        }
        return text
    }

    func isReadableFile(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder.boolValue
            && FileManager.default.isReadableFile(atPath: path)
    }

    /// Makes a path in the configuration, which is relative to its folder, absolute.
    func absolute(_ path: String) -> String { Self.absolute(path, in: folder) }

    static func absolute(_ path: String, in folder: String) -> String {
        let joined = path.hasPrefix("/") ? path : folder + "/" + path
        return URL(fileURLWithPath: joined).standardizedFileURL.path
    }

    private func contents(_ path: String) -> Data? {
        isReadableFile(path) ? try? Data(contentsOf: URL(fileURLWithPath: path)) : nil
    }
}
