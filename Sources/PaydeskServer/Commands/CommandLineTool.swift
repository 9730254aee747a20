import ArgumentParser
import Foundation
import ProviderKit
import Store

/// The root command.
struct CommandLineTool: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "paydesk",
        abstract: "A server between an app and its payment providers and app stores.",
        version: Release.version,
        subcommands: [
            Serve.self, Migrate.self, Doctor.self, Keys.self, Token.self, Catalog.self, Check.self, Verify.self,
            Replay.self, Backup.self, Restore.self, MovableClock.self, Conformance.self, Listen.self, TriggerEvent.self,
            Requests.self, Initialize.self, Completions.self, Manual.self,
        ])

    /// The provider kinds of this binary; task-local, because the parser makes the commands.
    @TaskLocal static var providers: [any PaymentProvider.Type] = []

    static func run(providers: [any PaymentProvider.Type]) async -> Never {
        let code = await $providers.withValue(providers) { await perform() }
        Foundation.exit(code)
    }

    private static func perform() async -> Int32 {
        do {
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            return 0
        } catch let error as CommandError {
            FileHandle.standardError.write(Data("\(error.message)\n".utf8))
            return error.exitCode
        } catch {
            return usage(error)
        }
    }

    /// Prints help and version (exit 0); every other error of the parser is wrong usage (exit 2).
    private static func usage(_ error: any Error) -> Int32 {
        let text = fullMessage(for: error)
        guard exitCode(for: error) == .success else {
            FileHandle.standardError.write(Data("\(text)\n".utf8))
            return 2
        }
        if !text.isEmpty { print(text) }
        return 0
    }
}

/// The message with which a command ends, for the operator, and its exit code.
struct CommandError: Error {
    let message: String
    let exitCode: Int32

    static func checkFailed(_ message: String) -> CommandError { CommandError(message: message, exitCode: 1) }
    static func usage(_ message: String) -> CommandError { CommandError(message: message, exitCode: 2) }
    static func database(_ message: String) -> CommandError { CommandError(message: message, exitCode: 3) }

    /// Makes an error of exit code 3 from a failure of the store.
    static func store(_ error: any Error) -> CommandError {
        switch error {
        case let error as CommandError: error
        case StoreError.owned(let text), StoreError.unavailable(let text), StoreError.failed(let text),
            StoreError.outcomeUnknown(let text):
            database("paydesk: \(text)")
        case let error as MigrationError: database("paydesk: \(error)")
        default: database("paydesk: the database refused: \(error)")
        }
    }
}

/// The options of every command.
struct CommonOptions: ParsableArguments {
    static let defaultFolder = "Config"

    @Option(help: "The configuration folder.", completion: .directory)
    var config = defaultFolder
}
