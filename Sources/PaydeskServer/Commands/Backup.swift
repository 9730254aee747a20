import ArgumentParser
import Foundation

/// `paydesk backup`.
struct Backup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Copies the SQLite database to a new file, also while the server runs.")

    @OptionGroup var common: CommonOptions
    @Argument(help: "The file to write; it must not exist.") var file: String

    func run() async throws {
        let configuration = try Configuration.load(common.config, providers: CommandLineTool.providers)
        let path = URL(fileURLWithPath: file).standardizedFileURL.path
        guard !FileManager.default.fileExists(atPath: path) else {
            throw CommandError.usage("paydesk: \(file) exists; a backup never overwrites a file")
        }
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
            throw CommandError.usage("paydesk: there is no folder \(folder); make it first")
        }
        _ = try await AdminCommand.backup(path: path).perform(configuration, providers: CommandLineTool.providers)
        print("Backed up to \(file).")
    }
}
