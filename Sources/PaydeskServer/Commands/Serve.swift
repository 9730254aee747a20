import ArgumentParser
import AsyncHTTPClient
import Domain
import Foundation
import Gateway
import HTTPAPI
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
import Logging
import Metrics
import NIOSSL
import ProviderKit
import ServiceLifecycle
import Store
import UnixSignals

/// `paydesk serve`.
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Serves the cashier.")

    @OptionGroup var common: CommonOptions
    @Option(help: "Listens here instead of http.host.") var host: String?
    @Option(help: "Listens here instead of http.port.") var port: Int?
    @Option(help: "trace, debug, info, notice, warning or error.") var logLevel = "info"

    func run() async throws {
        // Whatever this process makes (database, secrets, socket) is its user's alone.
        umask(0o077)
        guard let level = Logger.Level(rawValue: logLevel) else {
            throw CommandError.usage("paydesk: unknown log level")
        }
        let configuration = try Configuration.load(
            common.config, providers: CommandLineTool.providers,
            overrides: ConfigurationOverrides(host: host, port: port))
        let metrics = PrometheusMetrics()
        MetricsSystem.bootstrap(metrics)
        LoggingSystem.bootstrap(StreamLogHandler.standardError)
        var logger = Logger(label: "paydesk")
        logger.logLevel = level
        try await Self.serve(configuration, metrics: metrics, logger: logger)
    }

    private static func serve(
        _ configuration: Configuration, metrics: PrometheusMetrics, logger: Logger
    ) async throws {
        let waiting = WaitForDatabase(logger: logger)
        let store = try await configuration.openDatabase(waiting: waiting) { [logger] failure in
            logger.critical("the storage failed; the process stops", metadata: ["reason": "\(failure)"])
            Foundation.exit(3)
        }
        metrics.observe(counter: "paydesk_store_commits_total") { store.engine.commits }
        let transport = AsyncTransport()
        let webhooks = OutgoingWebhooks(
            rules: configuration.webhooks.allowPrivateNetworks ? .anyAddress : .publicAddresses,
            resolve: HostResolver().addresses)
        do {
            let composition = try Composition(
                configuration, store: store, providers: CommandLineTool.providers, transport: transport,
                webhooks: webhooks, logger: logger)
            let traffic = composition.gateway.traffic
            metrics.observe(gauge: "paydesk_account_health", by: "account") {
                Dictionary(uniqueKeysWithValues: traffic.health.map { ($0.rawValue, $1 == .closed ? 1 : 0) })
            }
            try await waiting { try await prepare(composition.gateway, configuration) }
            let census = NodeCensus(store: store, pause: Live.pause)
            await census.take()
            let api = try composition.api(
                fetchJWKS: { await fetchJWKS($0, by: transport) }, metricsText: { metrics.text },
                nodes: { census.nodes })
            let application = try application(api, composition, logger: logger)
            var services: [any Service] = [store.engine, census, composition.gateway.calls]
            if let control = ControlSocket(try configuration.database()) {
                services.append(control.server(composition.gateway, logger: Self.quiet(logger)))
            }
            services.append(JobRunner(gateway: composition.gateway))
            let manifests = ManifestWatch(composition.gateway.registry, pause: Live.pause)
            if manifests.isNeeded {
                await manifests.prepare(within: .seconds(2))
                services.append(manifests)
            }
            services.append(application)
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

    /// Fills an empty catalogue from the file, and says what the operator should know.
    private static func prepare(_ gateway: Gateway, _ configuration: Configuration) async throws {
        let context = CallContext(actor: .system("serve"), requestID: gateway.ids.make(Domain.Request.self).rawValue)
        if try await gateway.isCatalogueEmpty(), !configuration.catalogue.isEmpty {
            _ = try await gateway.importCatalogue(configuration.catalogue, context: context)
        }
        try await gateway.warnOfUnreadableRouting()
        try await gateway.warnOfMissingKey()
    }

    private static func application(
        _ api: API, _ composition: Composition, logger: Logger
    ) throws -> some ApplicationProtocol {
        let configuration = composition.configuration
        let http = HTTPServerBuilder.limitedHTTP1()
        var server = http
        if let tls = configuration.http.tls {
            let chain = try NIOSSLCertificate.fromPEMFile(tls.certificatePath).map {
                NIOSSLCertificateSource.certificate($0)
            }
            let key = try NIOSSLPrivateKey(bytes: Array(tls.privateKeyPEM.utf8), format: .pem)
            var settings = TLSConfiguration.makeServerConfiguration(
                certificateChain: chain, privateKey: .privateKey(key))
            // RFC 8996: TLS 1.0 and 1.1 must not be used.
            settings.minimumTLSVersion = .tlsv12
            server = try .tls(http, tlsConfiguration: settings)
        }
        return Application(
            router: api.router(), server: server,
            configuration: ApplicationConfiguration(
                address: .hostname(configuration.http.host, port: configuration.http.port), serverName: nil,
                backlog: 1_024, availableConnectionsDelegate: .maximum(ConnectionLimit.raise(), logger: quiet(logger))),
            onServerRunning: { _ in
                // A key is made only once its owner can use it. Unbuffered, so that a pipe or a log file has it at once.
                let greeting = await Greeting.make(composition)
                FileHandle.standardOutput.write(Data((greeting + "\n").utf8))
            }, logger: quiet(logger))
    }

    private static func fetchJWKS(_ address: String, by transport: AsyncTransport) async -> String? {
        let request = OutgoingRequest(method: "GET", url: address, timeoutMilliseconds: 5_000, maxReplyBytes: 256 << 10)
        guard let reply = try? await transport.send(request), reply.status == 200 else { return nil }
        return String(decoding: reply.body, as: UTF8.self)
    }

    /// The frameworks' own lines only where something is wrong.
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
        case let error as NIOSSLError: .usage("paydesk.yaml: http.tls: \(error)")
        default:
            .usage("paydesk: cannot serve on \(configuration.http.host):\(configuration.http.port): \(error)")
        }
    }
}
