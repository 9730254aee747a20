import Foundation

/// The commands as ArgumentParser describes them, in the part that the manual page needs.
struct ToolDescription: Decodable {
    let command: Command

    struct Command: Decodable {
        let commandName: String
        let shouldDisplay: Bool?
        let abstract: String?
        let discussion: String?
        let subcommands: [Command]?
        let arguments: [Argument]?

        /// The commands that help shows, without `help` itself.
        var shown: [Command] { (subcommands ?? []).filter { $0.shouldDisplay ?? true && $0.commandName != "help" } }
        /// The arguments that help shows, without those that every command has.
        var options: [Argument] { (arguments ?? []).filter { $0.shouldDisplay && !$0.isGeneral } }
    }

    struct Argument: Decodable {
        enum Kind: String, Decodable {
            case positional, option, flag
        }

        struct Name: Decodable {
            let kind: String
            let name: String

            var text: String { kind == "long" ? "--\(name)" : "-\(name)" }
        }

        let kind: Kind
        let shouldDisplay: Bool
        let isOptional: Bool
        let names: [Name]?
        let valueName: String?
        let defaultValue: String?
        let abstract: String?

        fileprivate var isGeneral: Bool { (names ?? []).contains { ["help", "version"].contains($0.name) } }
    }

    init(json: String) throws {
        self = try JSONDecoder().decode(ToolDescription.self, from: Data(json.utf8))
    }

    private enum CodingKeys: CodingKey { case command }
}
