import Foundation

/// The manual page of all commands, in the macros of man(7).
struct ManualPage {
    private let tool: ToolDescription.Command
    private let version: String

    init(_ tool: ToolDescription.Command, version: String) {
        self.tool = tool
        self.version = version
    }

    var text: String {
        let lines =
            [
                ".TH PAYDESK 1 \"\" \"Paydesk \(Self.escaped(version))\" \"User Commands\"",
                ".SH NAME", "paydesk \\- \(Self.escaped(Self.beginning(tool.abstract ?? "")))",
                ".SH SYNOPSIS", ".B paydesk", ".I command", "[options]",
                ".SH DESCRIPTION", Self.escaped(Self.description),
                ".SH COMMANDS",
            ] + tool.shown.flatMap { section(of: $0, after: tool.commandName) } + Self.ending
        return lines.joined(separator: "\n") + "\n"
    }

    private static let description = """
        Paydesk stands between an app and its payment providers and app stores. One program serves it and does everything \
        else that an operator and a developer need. Every command has --help.
        """

    private static let ending =
        [
            ".SH EXIT STATUS", ".TP", ".B 0", "good", ".TP", ".B 1", "a check failed", ".TP", ".B 2",
            "wrong usage or configuration", ".TP", ".B 3", "the database is unreachable or owned by another process",
            ".SH ENVIRONMENT", ".TP", ".B \(ServerOptions.serverVariable)",
            "the server's address, for commands that take", ".BR \\-\\-server .", ".TP",
            ".B \(ServerOptions.keyVariable)", "an API key, for commands that take", ".BR \\-\\-key .", ".PP",
            escaped("The configuration takes its own variables, as its files say."),
            ".SH FILES", ".TP", ".I Config", escaped("the configuration folder, unless --config names another"),
        ]

    /// The section of a command, and those of its own commands.
    private func section(of command: ToolDescription.Command, after path: String) -> [String] {
        let name = "\(path) \(command.commandName)"
        guard command.shown.isEmpty else {
            return command.shown.flatMap { section(of: $0, after: name) }
        }
        let about = [command.abstract, command.discussion].compactMap(\.self).filter { !$0.isEmpty }
        return [".SS \"\(Self.escaped(Self.synopsis(command, name)))\""]
            + about.flatMap { [Self.escaped($0), ".PP"] }.dropLast()
            + command.options.flatMap(Self.option)
    }

    /// The command with what it must have.
    private static func synopsis(_ command: ToolDescription.Command, _ name: String) -> String {
        let needed = command.options.compactMap { option -> String? in
            switch option.kind {
            case .positional: option.isOptional ? "[\(option.value)]" : option.value
            case .option: option.isOptional ? nil : "\(option.name) \(option.value)"
            case .flag: nil
            }
        }
        return ([name] + needed).joined(separator: " ")
    }

    private static func option(_ option: ToolDescription.Argument) -> [String] {
        let title =
            switch option.kind {
            case .positional: ".I \(escaped(option.value))"
            case .flag: ".B \(escaped(option.name))"
            case .option: ".BI \(escaped(option.name)) \" \(escaped(option.value))\""
            }
        let initial = option.kind == .option ? option.defaultValue.map { " (default: \($0))" } ?? "" : ""
        return [".TP", title, escaped((option.abstract ?? "") + initial)]
    }

    /// A sentence as the page's short description: without its capital and its full stop.
    private static func beginning(_ sentence: String) -> String {
        let text = sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence
        return text.prefix(1).lowercased() + text.dropFirst()
    }

    /// Text that roff shows as it is: one line, no requests, plain hyphens.
    private static func escaped(_ text: String) -> String {
        let line = text.split(whereSeparator: \.isNewline).joined(separator: " ")
        let plain = line.replacing("\\", with: "\\e").replacing("-", with: "\\-").replacing("\"", with: "\\(dq")
        return plain.hasPrefix(".") || plain.hasPrefix("'") ? "\\&" + plain : plain
    }
}

extension ToolDescription.Argument {
    fileprivate var name: String { names?.first?.text ?? "" }
    fileprivate var value: String { valueName ?? "" }
}
