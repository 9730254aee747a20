import ArgumentParser

/// `paydesk man`.
struct Manual: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "man", abstract: "Prints the manual page of these commands, paydesk(1), for man.",
        discussion: "To read it: paydesk man > paydesk.1; man ./paydesk.1")

    func run() throws {
        let described = try ToolDescription(json: CommandLineTool._dumpHelp())
        print(ManualPage(described.command, version: Release.version).text, terminator: "")
    }
}
