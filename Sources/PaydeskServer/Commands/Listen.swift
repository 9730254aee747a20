import ArgumentParser
import Domain
import Foundation
import Gateway
import UnixSignals

/// `paydesk listen`.
struct Listen: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Forwards events to a server on this machine, signed like a webhook's messages.",
        discussion: """
            Each event is sent in its order, one at a time, with a secret that is printed at the start. An answer of 2xx is \
            done; another is shown, and with --retry tried again after 1, 5 and 30 seconds. The last line has the cursor, \
            which --after takes the next time.
            """)

    private static let scopes: [Scope] = [.eventsRead, .ordersRead, .entitlementsRead]
    /// The time in which a person may ask for another attempt.
    private static let (moments, moment) = (50, Duration.milliseconds(100))

    @OptionGroup var access: ServerOptions
    @Option(help: "The address that gets the events, such as http://127.0.0.1:3000/hook.") var forwardTo: String
    @Option(help: "The event types to forward, separated by commas. Default: all that the key may read.")
    var types: String?
    @Option(help: "The cursor after which to begin. Default: the newest event.") var after: Int64?
    @Flag(help: "Tries again what was not answered with 2xx.") var retry = false
    @Flag(help: "Forwards to another machine than this one.") var allowRemote = false

    func run() async throws {
        let target = try ForwardTarget(forwardTo, allowsRemote: allowRemote)
        let types = try self.types.map { (text) throws(CommandError) in try Self.types(text) }
        guard (after ?? 0) >= 0 else { throw CommandError.usage("paydesk: --after is a whole number from 0") }
        try await access.use("paydesk-listen", Self.scopes) { client in try await forward(client, to: target, types) }
    }

    private func forward(_ client: ServerClient, to target: ForwardTarget, _ types: Set<String>?) async throws {
        let reader = EventFeedReader(pause: SystemDependencies.pause) { path, query in await client.get(path, query) }
        let start = if let after { after } else { try await reader.newest() }
        let secret = WebhookSecret(random: SystemDependencies.random)
        let forwarding = EventForwarding(
            reader, after: start,
            EventForwarding.Settings(
                types: types, retries: retry, asksToRetry: isatty(STDIN_FILENO) == 1 ? Self.hearsEnter : nil),
            secret: secret, time: SystemDependencies.time,
            post: { message, seconds in
                do {
                    return .answered(try await client.post(message, to: target.address, within: seconds))
                } catch {
                    return .failed("no answer: \(error)")
                }
            }, show: Self.show)
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        Self.show("Events after \(start) go to \(target.address). Their signing secret: \(secret.text)")
        let failure = await Self.untilSignal(signals) { () async throws(CommandError) in try await forwarding.run() }
        if failure == nil { try? await forwarding.finish() }
        Self.show("The cursor, for --after: \(forwarding.cursor)")
        if let failure { throw failure }
    }

    /// Runs a body until it ends or a signal comes.
    ///
    /// - Returns: the body's error; nil after a signal.
    private static func untilSignal(
        _ signals: UnixSignalsSequence, _ body: @escaping @Sendable () async throws(CommandError) -> Void
    ) async -> CommandError? {
        await withTaskGroup(of: CommandError?.self) { group in
            group.addTask {
                do throws(CommandError) { try await body() } catch { return error }
                return nil
            }
            group.addTask {
                for await _ in signals { break }
                return nil
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first
        }
    }

    /// Prints a line at once, also into a pipe.
    private static func show(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

    /// Returns whether a line comes from the terminal within a few seconds.
    @Sendable private static func hearsEnter() async -> Bool {
        for _ in 0..<moments where !Task.isCancelled {
            var terminal = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
            if poll(&terminal, 1, 0) == 1 { return readLine() != nil }
            await SystemDependencies.pause(moment)
        }
        return false
    }

    /// Reads the names of event types.
    private static func types(_ text: String) throws(CommandError) -> Set<String> {
        let names = text.split(separator: ",").map(String.init)
        for name in names where EventType(rawValue: name) == nil {
            throw .usage("paydesk: --types: there is no event \(name.shownOnOneLine)")
        }
        guard !names.isEmpty else { throw .usage("paydesk: --types names no event") }
        return Set(names)
    }
}
