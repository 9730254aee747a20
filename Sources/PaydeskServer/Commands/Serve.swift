import ArgumentParser
import AsyncHTTPClient
import Domain
import Foundation
import Gateway
import HTTPAPI
import Hummingbird
import HummingbirdCore
import Logging
import Metrics
import NIOCore
import ProviderKit
import ServiceLifecycle
import Store
import UnixSignals

/// `paydesk serve`.
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Runs the server.")

    @OptionGroup var common: CommonOptions
    @Option(help: "The address to listen on, instead of http.host.") var host: String?
    @Option(help: "The port to listen on, instead of http.port.") var port: Int?
    @Option(help: "The lowest level that is logged: trace, debug, info, notice, warning or error.")
    var logLevel = "info"
    @Option(help: "The form of log lines: text, or json with one object a line.")
    var logFormat = LogFormat.text.rawValue

    func run() async throws {
        // Files that this process makes (database, secrets, socket) are readable by its user only.
        umask(0o077)
        SharedWakeUps.begin()
        guard let level = Logger.Level(rawValue: logLevel) else {
            throw CommandError.usage("paydesk: unknown log level")
        }
        guard let format = LogFormat(rawValue: logFormat) else {
            throw CommandError.usage("paydesk: --log-format is text or json")
        }
        if let port, !(1...65_535).contains(port) {
            throw CommandError.usage("paydesk: --port is a whole number from 1 to 65535")
        }
        // Untrapped, the signal ends the process.
        let hangUps = await UnixSignalsSequence(trapping: .sighup)
        let (folder, overrides) = (common.config, ConfigurationOverrides(host: host, port: port))
        let providers = CommandLineTool.providers
        let load = { @Sendable () throws(CommandError) in
            try Configuration.load(folder, providers: providers, overrides: overrides)
        }
        let configuration = try load()
        let metrics = PrometheusMetrics()
        MetricsSystem.bootstrap(metrics)
        format.bootstrap()
        var logger = Logger(label: "paydesk")
        logger.logLevel = level
        try await Self.serve(
            configuration, of: folder, reading: load, at: hangUps, metrics: metrics, logger: logger)
    }

    /// - Parameters:
    ///   - load: reads the configuration anew.
    ///   - hangUps: the signals at which that is done.
    private static func serve(
        _ configuration: Configuration, of folder: String,
        reading load: @escaping @Sendable () throws(CommandError) -> Configuration, at hangUps: UnixSignalsSequence,
        metrics: PrometheusMetrics, logger: Logger
    ) async throws {
        let tls = try configuration.http.tls.map { files throws(CommandError) in try ServerTLS(files) }
        let certificate = try tls.map { try ServedCertificate($0) }
        let waiting = WaitForDatabase(logger: logger)
        let store = try await configuration.openDatabase(waiting: waiting) { [logger] failure in
            logger.critical("the storage failed; the process stops", metadata: ["reason": "\(failure)"])
            Foundation.exit(3)
        }
        metrics.observe(store)
        let transport = AsyncTransport()
        let webhooks = OutgoingWebhooks(
            rules: configuration.webhooks.allowPrivateNetworks ? .anyAddress : .publicAddresses,
            resolve: HostResolver().addresses)
        do {
            let composition = try Composition(
                configuration, store: store, providers: CommandLineTool.providers, transport: transport,
                webhooks: webhooks, box: try await configuration.boxAuthority(in: store), logger: logger)
            let queues = QueueCensus(composition.gateway)
            metrics.observe(composition.gateway, queues)
            try await waiting { try await prepare(composition.gateway, configuration) }
            warnOfSettings(composition.gateway.registry, logger)
            let census = NodeCensus(store: store, pause: SystemDependencies.pause)
            await census.take()
            let fetchJWKS: @Sendable (String) async -> String? = {
                await KeySetFetch(address: $0, transport: transport).text(logger)
            }
            let api = try composition.api(
                fetchJWKS: fetchJWKS, metricsText: { metrics.text }, nodes: { census.nodes })
            let started = StartSignal()
            let application = application(api, composition, certificate, logger: logger) {
                started.give()
                // The admin key is made only once the server listens. Unbuffered, so that a pipe or a log file gets the
                // text at once.
                let greeting = await Greeting.make(composition, folder: folder)
                FileHandle.standardOutput.write(Data((greeting + "\n").utf8))
            }
            let reload = ConfigurationReload(
                composition.running, signals: hangUps,
                served: ConfigurationReload.Served(
                    api: api, meters: composition.gateway.configuredMeters, certificate: certificate,
                    fetchJWKS: fetchJWKS),
                logger: logger, load: load)
            var services: [any Service] = [store.engine, census, queues, reload, composition.gateway.calls]
            if let control = ControlSocket(try configuration.database()) {
                services.append(control.server(composition.gateway, logger: Self.quiet(logger)))
            }
            services.append(AfterStart(signal: started, service: JobRunner(gateway: composition.gateway)))
            let manifests = ManifestWatch(composition.gateway.registry, pause: SystemDependencies.pause)
            if manifests.isNeeded {
                await manifests.prepare(within: .seconds(2))
                services.append(manifests)
            }
            services.append(application)
            services.append(LiveRunner(gateway: composition.gateway))
            let group = ServiceGroup(
                configuration: ServiceGroupConfiguration(
                    services: services.map { .init(service: $0, successTerminationBehavior: .gracefullyShutdownGroup) },
                    gracefulShutdownSignals: [.sigterm, .sigint], logger: Self.quiet(logger)))
            try await group.run()
        } catch {
            await store.engine.close()
            await webhooks.shutDown()
            try? await transport.client.shutdown()
            throw failure(error, configuration)
        }
        await webhooks.shutDown()
        try? await transport.client.shutdown()
    }

    /// Fills an empty catalogue from the file, and logs warnings for the operator.
    private static func prepare(_ gateway: Gateway, _ configuration: Configuration) async throws {
        try await gateway.businessClock.open()
        let offset = gateway.clock.state.offsetSeconds
        guard offset == 0 || configuration.isDevelopment else {
            throw CommandError.usage(
                "paydesk: development has moved this database's clock \(offset) s ahead, so it cannot serve in production; "
                    + "use another database")
        }
        let context = CallContext(actor: .system("serve"), requestID: gateway.ids.make(Domain.Request.self).rawValue)
        if try await gateway.catalogue.isEmpty(), !configuration.catalogue.isEmpty {
            _ = try await gateway.catalogue.merge(configuration.catalogue, context: context)
        }
        if !configuration.isDevelopment { try await gateway.purchaseBacklog.withdrawBox(context) }
        try await gateway.accounts.warnOfUnreadableRouting()
        try await gateway.secrets.warnOfMissingKey()
    }

    /// Logs what the settings of each enabled account would have refused, before the first payment fails.
    private static func warnOfSettings(_ registry: ProviderRegistry, _ logger: Logger) {
        for account in registry.accounts where account.enabled {
            for found in (account.provider as? any SelfExamining)?.examine() ?? [] where found.level != .good {
                logger.warning(
                    "an account's settings need a look: \(found.words)",
                    metadata: ["account": "\(account.id.rawValue)", "subject": "\(found.subject)"])
            }
        }
    }

    private static func application(
        _ api: API, _ composition: Composition, _ certificate: ServedCertificate?, logger: Logger,
        onStart: @escaping @Sendable () async -> Void
    ) -> some ApplicationProtocol {
        let configuration = composition.configuration
        return Application(
            router: api.router(), server: .limitedHTTP1(shedder: api.loadShedder(), certificate: certificate),
            configuration: ApplicationConfiguration(
                address: .hostname(configuration.http.host, port: configuration.http.port), serverName: nil,
                backlog: ConnectionLimit.backlog,
                availableConnectionsDelegate: .maximum(ConnectionLimit.raise(), logger: quiet(logger))),
            onServerRunning: { _ in await onStart() }, logger: quiet(logger))
    }

    /// A logger for the frameworks, which prints warnings and errors only.
    private static func quiet(_ logger: Logger) -> Logger {
        var logger = logger
        logger.logLevel = max(logger.logLevel, .warning)
        return logger
    }

    private static func failure(_ error: any Error, _ configuration: Configuration) -> CommandError {
        switch error {
        case let error as CommandError: error
        case let error as StoreError: .store(error)
        case let error as GatewayError: .database("paydesk: the database refused: \(error)")
        case let error as IOError where error.errnoCode == EADDRINUSE:
            .usage(
                "paydesk: another program listens on \(configuration.http.host):\(configuration.http.port); stop it, or "
                    + "choose another port with http.port or --port")
        default:
            .usage("paydesk: cannot serve on \(configuration.http.host):\(configuration.http.port): \(error)")
        }
    }
}
