import ArgumentParser
import Foundation

/// `paydesk init`.
struct Initialize: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Writes a configuration folder for production, with everything that it wants.",
        discussion: """
            Every value that is yours stands as ${NAME}: set these variables, which environment.example lists, or write \
            the values into the files. It asks nothing, and changes no folder that has anything in it.
            """)

    @Flag(help: "Required: the folder is for production; development has one in the source, Config.")
    var production = false
    @Argument(help: "The folder to write, which must be empty or not exist.", completion: .directory)
    var folder: String

    func validate() throws {
        guard production else { throw ValidationError("init writes a configuration for production: say --production.") }
    }

    func run() throws {
        let files = FileManager.default
        let root = URL(filePath: folder, directoryHint: .isDirectory)
        do {
            if files.fileExists(atPath: root.path) {
                guard try files.contentsOfDirectory(atPath: root.path).isEmpty else {
                    throw CommandError.usage("paydesk: \(folder) is not empty; nothing was written")
                }
            }
            try files.createDirectory(
                at: root.appending(path: "providers"), withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o750])
            for (path, text) in ProductionConfiguration.files {
                let file = root.appending(path: path)
                try Data(text.utf8).write(to: file, options: .withoutOverwriting)
                try files.setAttributes([.posixPermissions: 0o640], ofItemAtPath: file.path)
            }
        } catch let error as CommandError {
            throw error
        } catch {
            throw CommandError.usage("paydesk: \(folder) cannot be written: \(error.localizedDescription)")
        }
        for (path, _) in ProductionConfiguration.files { print("wrote \(root.appending(path: path).path)") }
        print("Set the variables of environment.example, then: paydesk doctor --config \(folder)")
    }
}
