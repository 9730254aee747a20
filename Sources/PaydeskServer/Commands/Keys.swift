import ArgumentParser
import Domain
import Foundation
import Gateway
import Store

/// `paydesk keys`.
struct Keys: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Makes, lists and revokes API keys, and encrypts stored secrets with the newest key.",
        subcommands: [Create.self, List.self, Revoke.self, Reseal.self, RotateSigning.self])

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Makes an API key and prints it, this once only.")

        @OptionGroup var common: CommonOptions
        @Option(help: "A name for the key, such as its purpose.") var name: String
        @Option(help: "The partner who owns the key. Default: the name.") var partner: String?
        @Option(help: "The scopes, separated by commas: admin, or orders:read,events:read.") var scopes: String
        @Flag(help: "Prints JSON.") var json = false

        func run() async throws {
            let configuration = try Configuration.load(common.config, providers: CommandLineTool.providers)
            let command = AdminCommand.createKey(
                name: name, partner: partner, scopes: scopes.split(separator: ",").map(String.init))
            guard
                case .key(let id, let key) = try await command.perform(
                    configuration, providers: CommandLineTool.providers)
            else { return }
            print(json ? try JSONText.line(["id": id, "key": key]) : "\(id)\n\(key)")
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists the API keys without their secrets.")

        @OptionGroup var common: CommonOptions
        @Flag(help: "Prints JSON.") var json = false

        private struct Line: Encodable {
            let id: String
            let name: String
            let partner: String
            let scopes: [String]
            let revoked: Bool
        }

        func run() async throws {
            let configuration = try Configuration.load(common.config, providers: CommandLineTool.providers)
            let store = try await configuration.openReadOnly()
            let lines: [Line]
            do {
                lines = try await store.read { db in
                    try db.apiKeys.list(before: nil, limit: 10_000).map {
                        Line(
                            id: $0.id.rawValue, name: $0.name, partner: $0.partner, scopes: $0.scopes,
                            revoked: $0.revokedAt != nil)
                    }
                }
            } catch {
                throw CommandError.store(error)
            }
            await store.engine.close()
            if json { return print(try JSONText.line(lines)) }
            for line in lines {
                let scopes = line.scopes.joined(separator: ",")
                let text = "\(line.id)  \(line.name)  \(line.partner)  \(scopes)\(line.revoked ? "  revoked" : "")"
                print(text.shownOnOneLine)
            }
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Revokes a key permanently.")

        @OptionGroup var common: CommonOptions
        @Argument(help: "The key's id, key_….") var id: String

        func run() async throws {
            let configuration = try Configuration.load(common.config, providers: CommandLineTool.providers)
            _ = try await AdminCommand.revokeKey(id: id).perform(configuration, providers: CommandLineTool.providers)
            print("\(id) is revoked.")
        }
    }
}

extension Keys {
    struct Reseal: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Encrypts every stored secret with the first of secrets.keys, so that the others can be removed.")

        @OptionGroup var common: CommonOptions
        @Flag(help: "Prints JSON.") var json = false

        func run() async throws {
            let configuration = try Configuration.load(common.config, providers: CommandLineTool.providers)
            let result = try await AdminCommand.reseal.perform(configuration, providers: CommandLineTool.providers)
            guard case .resealed(let done) = result else { return }
            print(json ? try JSONText.line(done) : "\(done.resealed) secrets were sealed anew.")
            guard done.closed == 0 else {
                throw CommandError.checkFailed(
                    "paydesk: \(done.closed) secrets were sealed with a key that secrets.keys lacks; put it back behind the "
                        + "new one and run this again")
            }
        }
    }

    struct RotateSigning: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rotate-signing",
            abstract: "Makes a new key for signed snapshots; the old one is published until what it signed has ended.")

        @OptionGroup var common: CommonOptions
        @Flag(help: "Prints JSON.") var json = false

        func run() async throws {
            let configuration = try Configuration.load(common.config, providers: CommandLineTool.providers)
            let result = try await AdminCommand.rotateSigning.perform(
                configuration, providers: CommandLineTool.providers)
            guard case .rotated(let kid) = result else { return }
            print(json ? try JSONText.line(["kid": kid]) : "Snapshots are signed with \(kid) from now on.")
        }
    }
}
