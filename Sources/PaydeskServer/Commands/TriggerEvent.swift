import ArgumentParser
import Domain
import Foundation
import Gateway
import NIOCore
import NIOPosix

/// `paydesk trigger`.
struct TriggerEvent: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trigger",
        abstract: "Makes an event happen at the running development server, by what makes it happen otherwise.",
        discussion: """
            A checkout is paid in the sandbox, a payment is disputed, a subscription renews. Exit code 1: the event did not \
            come within 10 seconds. --list prints what can be made to happen.
            """)

    @OptionGroup var common: CommonOptions
    @Argument(
        help: "The event's type, such as order.paid.", completion: .list(Trigger.allCases.map(\.rawValue)))
    var event: String?
    @Option(help: "The app's own id of the user. Default: a new one.") var user: String?
    @Option(help: "The SKU that is sold. Default: the first that fits.") var sku: String?
    @Flag(help: "Moves business time, for events that need it.") var advance = false
    @Flag(help: "Prints the events that can be made to happen.") var list = false
    @Flag(help: "Prints JSON.") var json = false

    func run() async throws {
        if list { return print(Self.table) }
        let request = try request()
        let configuration = try Configuration.load(common.config, providers: CommandLineTool.providers)
        guard configuration.isDevelopment else {
            throw CommandError.usage("paydesk: events are made to happen in development mode only")
        }
        try await Self.requireServer(configuration)
        let result = try await AdminCommand.trigger(request).perform(
            configuration, providers: CommandLineTool.providers)
        guard case .triggered(let happened) = result else { return }
        guard happened.seq != nil else {
            throw CommandError.checkFailed("paydesk: \(request.event.rawValue) did not come within 10 seconds")
        }
        print(json ? try JSONText.line(happened) : Self.words(happened))
    }

    private func request() throws(CommandError) -> TriggerRequest {
        guard let event else { throw .usage("paydesk: which event? `paydesk trigger --list` prints them") }
        guard let trigger = Trigger(rawValue: event) else {
            let why = EventType(rawValue: event) == nil ? "is no event" : "cannot be made to happen"
            throw .usage("paydesk: \(event.shownOnOneLine) \(why); `paydesk trigger --list` prints what can")
        }
        guard advance || !trigger.needsTime else {
            throw .usage("paydesk: \(event) needs time to pass: add --advance, which moves business time")
        }
        if let user, ExternalUserID(user) == nil {
            throw .usage("paydesk: --user must have 1 to 128 characters, none of them a control character")
        }
        return TriggerRequest(
            event: trigger, user: user ?? "trigger_\(SystemDependencies.name())", sku: sku, advances: advance)
    }

    /// Each event and the way in which it is made to happen.
    private static var table: String {
        Trigger.allCases.map { trigger in
            let name = trigger.rawValue.padding(toLength: 32, withPad: " ", startingAt: 0)
            return "\(name)\(trigger.summary)\(trigger.needsTime ? " (with --advance)" : "")"
        }.joined(separator: "\n")
    }

    private static func words(_ happened: TriggeredEvent) -> String {
        let facts = [
            happened.seq.map { "seq \($0)" }, happened.order_id.map { "order \($0)" },
            happened.payment_id.map { "payment \($0)" }, happened.subscription_id.map { "subscription \($0)" },
            "user \(happened.user_id)",
        ]
        return "\(happened.event): \(facts.compactMap(\.self).joined(separator: ", "))".shownOnOneLine
    }

    /// - Throws: exit 1 where no server answers at the configuration's port, which would number no event.
    private static func requireServer(_ configuration: Configuration) async throws {
        let host = WebAddress.isLoopback(host: configuration.http.host) ? configuration.http.host : "127.0.0.1"
        let address = "\(host.contains(":") ? "[\(host)]" : host):\(configuration.http.port)"
        let connecting = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton).connectTimeout(.seconds(5))
        do {
            let channel = try await connecting.connect(host: host, port: configuration.http.port).get()
            try? await channel.close()
        } catch {
            throw CommandError.checkFailed("paydesk: no server answers at \(address); start it: paydesk serve")
        }
    }
}
