import AsyncHTTPClient
import Gateway
import Logging
import ProviderKit
import Store

extension AdminCommand {
    /// Runs the command in this process where the database is free, else in the process that owns it.
    ///
    /// - Throws: the refusal of the command, with its exit code.
    func perform(
        _ configuration: Configuration, providers: [any PaymentProvider.Type]
    ) async throws(CommandError) -> AdminResult {
        let result = try await direct(configuration, providers: providers)
        if case .refused(let message, let exitCode) = result {
            throw CommandError(message: message, exitCode: exitCode)
        }
        return result
    }

    private func direct(
        _ configuration: Configuration, providers: [any PaymentProvider.Type]
    ) async throws(CommandError) -> AdminResult {
        let url = try configuration.database()
        let isBackup = if case .backup = self { true } else { false }
        // Opening would make an empty database, which would then be backed up.
        if isBackup { try configuration.requireDatabase() }
        let store: Store
        do throws(StoreError) {
            store = try Store.open(
                url, connections: 1, now: SystemDependencies.seconds, jitter: SystemDependencies.jitter,
                onFailure: { _ in })
        } catch .owned(let text) {
            guard let socket = ControlSocket(url) else { throw .database("paydesk: \(text)") }
            return try await socket.send(self)
        } catch {
            throw .store(error)
        }
        return try await perform(in: store, configuration, providers: providers)
    }

    /// Runs the command on an open database, and closes it.
    func perform(
        in store: Store, _ configuration: Configuration, providers: [any PaymentProvider.Type]
    ) async throws(CommandError) -> AdminResult {
        let isBackup = if case .backup = self { true } else { false }
        let isTrigger = if case .trigger = self { true } else { false }
        // Only a move of the clock and a trigger call providers and endpoints.
        let transport = AsyncTransport()
        let webhooks = OutgoingWebhooks(
            rules: configuration.webhooks.allowPrivateNetworks ? .anyAddress : .publicAddresses,
            resolve: HostResolver().addresses)
        do {
            // A backup copies the database as it is, before an upgrade with the schema of the earlier release.
            if !isBackup { try await configuration.migrate(store) }
            let gateway = try Composition(
                configuration, store: store, providers: providers, transport: transport, webhooks: webhooks,
                box: isTrigger ? try await configuration.boxAuthority(in: store) : nil,
                logger: Logger(label: "paydesk") { _ in SwiftLogNoOpLogHandler() }
            ).gateway
            if !isBackup { try await gateway.businessClock.open() }
            let result = await run(gateway)
            await store.engine.close()
            await webhooks.shutDown()
            try? await transport.client.shutdown()
            return result
        } catch {
            await store.engine.close()
            await webhooks.shutDown()
            try? await transport.client.shutdown()
            throw .store(error)
        }
    }
}
