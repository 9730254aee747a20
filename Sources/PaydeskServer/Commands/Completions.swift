import ArgumentParser
import Domain

/// `paydesk completions`.
struct Completions: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prints the completions of these commands for a shell.",
        discussion: """
            For bash: paydesk completions bash > /etc/bash_completion.d/paydesk. For zsh, put them as _paydesk into a \
            folder of $fpath; for fish, as paydesk.fish into ~/.config/fish/completions.
            """)

    @Argument(help: "bash, zsh or fish.", completion: .list(CompletionShell.allCases.map(\.rawValue)))
    var shell: String

    func run() throws {
        guard let shell = CompletionShell(rawValue: shell) else {
            let names = CompletionShell.allCases.map(\.rawValue).joined(separator: ", ")
            throw CommandError.usage("paydesk: \(shell.shownOnOneLine) is none of \(names)")
        }
        print(CommandLineTool.completionScript(for: shell))
    }
}
