import ArgumentParser
import Domain
import Foundation
import Gateway

/// The options of commands that call a server's API.
struct ServerOptions: ParsableArguments {
    /// The environment variables that take the place of the options.
    static let (serverVariable, keyVariable) = ("PAYDESK_SERVER", "PAYDESK_KEY")

    @OptionGroup var common: CommonOptions
    @Option(help: "The server's address. Default: PAYDESK_SERVER, else http.public_url of the configuration.")
    var server: String?
    @Option(
        help: """
            An API key. Default: PAYDESK_KEY; without it, a key of its own in development mode, which is revoked at the \
            end.
            """)
    var key: String?

    /// Runs a body with access to the server.
    ///
    /// - Parameters:
    ///   - name: the name of a key that is made for this run.
    ///   - scopes: its scopes.
    func use(_ name: String, _ scopes: [Scope], _ body: (ServerClient) async throws -> Void) async throws {
        let environment = ProcessInfo.processInfo.environment
        let given = (
            server: server ?? environment[Self.serverVariable], key: key ?? environment[Self.keyVariable]
        )
        if let server = given.server, let key = given.key {
            return try await Self.use(server, key, body)
        }
        let configuration = try Configuration.load(common.config, providers: CommandLineTool.providers)
        let address = given.server ?? configuration.http.publicURL
        if let key = given.key { return try await Self.use(address, key, body) }
        guard configuration.isDevelopment else {
            throw CommandError.usage(
                "paydesk: --key is missing; make one: paydesk keys create --name \(name) --scopes "
                    + scopes.map(\.rawValue).joined(separator: ","))
        }
        let command = AdminCommand.createKey(name: name, partner: nil, scopes: scopes.map(\.rawValue))
        guard
            case .key(let id, let key) = try await command.perform(configuration, providers: CommandLineTool.providers)
        else { return }
        let outcome: Result<Void, any Error>
        do { outcome = .success(try await Self.use(address, key, body)) } catch { outcome = .failure(error) }
        _ = try? await AdminCommand.revokeKey(id: id).perform(configuration, providers: CommandLineTool.providers)
        try outcome.get()
    }

    private static func use(
        _ server: String, _ key: String, _ body: (ServerClient) async throws -> Void
    ) async throws {
        guard let address = WebAddress(server), address.isWeb else {
            throw CommandError.usage("paydesk: --server is an address such as http://127.0.0.1:8080")
        }
        guard key.hasBytes(1...200, where: \.isVisible) else {
            throw CommandError.usage("paydesk: --key is no API key")
        }
        let client = ServerClient(address: server, key: key)
        do { try await body(client) } catch {
            await client.close()
            throw error
        }
        await client.close()
    }
}
