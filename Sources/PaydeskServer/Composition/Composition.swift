import AppStoreBox
import Domain
import Foundation
import Gateway
import HTTPAPI
import Logging
import ProviderKit
import Store

/// The composition root: makes the objects that serve a configuration.
struct Composition {
    let configuration: Configuration
    /// The configuration with what the server has taken since its start.
    let running: RunningConfiguration
    let gateway: Gateway
    let logger: Logger
    private let transport: any HTTPTransport
    /// The App Store in a box that this process runs; nil for none.
    let box: ServedBox?

    /// - Throws: a line for each account setting that a provider refuses (exit 2).
    init(
        _ configuration: Configuration, store: Store, providers: [any PaymentProvider.Type],
        transport: any HTTPTransport, webhooks: any WebhookTransport = NoWebhooks(), box authority: BoxAuthority? = nil,
        logger: Logger
    ) throws(CommandError) {
        self.configuration = configuration
        running = RunningConfiguration(configuration)
        self.logger = logger
        self.transport = transport
        let clock = NodeClock(real: SystemDependencies.time)
        box = authority.map { ServedBox(authority: $0, bundleID: configuration.boxBundle) }
        let access = try authority.map { authority throws(CommandError) in try configuration.access(to: authority) }
        let settings = try authority.map { authority throws(CommandError) in try configuration.box(of: authority) }
        let line = BoxTransport(address: configuration.boxAddress, beyond: transport)
        let registry = try configuration.registry(
            providers, transport: authority == nil ? transport : line, businessTime: clock.time, box: access,
            logger: logger
        ) {
            StoredBook(store: store, account: $0)
        }
        let keyRing: KeyRing
        do throws(KeyRingError) { keyRing = try KeyRing(keys: configuration.secretKeys) } catch {
            throw .usage("paydesk.yaml: secrets.keys: \(error)")
        }
        gateway = Gateway(
            store: store, registry: registry, keyRing: keyRing, clock: clock,
            random: SystemDependencies.random,
            calls: ProviderCalls(), webhooks: webhooks,
            settings: GatewaySettings(
                publicURL: configuration.http.publicURL, returnURLs: configuration.http.returnURLs,
                policies: configuration.orders, meters: configuration.meters,
                defaultCurrency: configuration.defaultCurrency,
                allowsPrivateWebhooks: configuration.webhooks.allowPrivateNetworks,
                isDevelopment: configuration.isDevelopment,
                retention: RetentionPolicy(
                    rawDays: configuration.retention.rawDays, idempotencyDays: configuration.retention.idempotencyDays),
                ownership: OwnershipRules(
                    policy: configuration.purchases.ownership, shareLimit: configuration.purchases.shareLimit,
                    cooldownDays: configuration.purchases.transferCooldownDays),
                billing: configuration.billing,
                pages: configuration.pages, streams: ConnectionLimit.streams(configuration.limits.streams),
                snapshots: configuration.snapshots),
            logger: logger, box: settings, pause: SystemDependencies.pause)
        if let api = gateway.appStoreAPI { line.connect(api) }
    }

    func api(
        fetchJWKS: @escaping @Sendable (String) async -> String?, metricsText: @escaping @Sendable () -> String,
        nodes: @escaping @Sendable () -> Int64
    ) throws(CommandError) -> API {
        let limits = configuration.limits
        return API(
            gateway: gateway,
            settings: APISettings(
                corsOrigins: configuration.http.corsOrigins, isDevelopment: configuration.isDevelopment,
                trustedProxies: configuration.http.trustedProxies,
                limits: APISettings.Limits(
                    userPerSecond: limits.userPerSecond, userBurst: limits.userBurst, keyPerSecond: limits.keyPerSecond,
                    keyBurst: limits.keyBurst, sessionsPerMinute: limits.sessionsPerMinute,
                    concurrent: Int(limits.concurrent), pagesPerSecond: limits.pagesPerSecond,
                    pagesBurst: limits.pagesBurst),
                tokens: try configuration.auth.tokenRules(fetchJWKS: fetchJWKS), version: Release.version,
                metricsText: metricsText, nodes: nodes,
                node: "\(SystemDependencies.hostName):\(configuration.http.port)",
                servesTLS: configuration.http.tls != nil,
                assets: configuration.assets, box: box,
                files: .commands(defaultCurrency: configuration.defaultCurrency)
            ) { [running, gateway, transport] reaches in
                let configuration = running.now
                let examination = DoctorExamination(configuration: configuration, gateway: gateway)
                let findings = try await examination.findings(reaching: reaches ? transport : nil)
                return (configuration.ownFindings + findings).map(DoctorItem.init)
            },
            logger: logger)
    }
}

extension Configuration {
    /// Makes the providers of the configured accounts.
    ///
    /// - Throws: a line for each setting that a provider refuses (exit 2).
    func registry(
        _ providers: [any PaymentProvider.Type], transport: any HTTPTransport, businessTime: BusinessTime? = nil,
        box: AppStoreBoxAccess? = nil,
        logger: Logger? = nil,
        book: (AccountID) -> any AccountBook
    ) throws(CommandError) -> ProviderRegistry {
        let types = Dictionary(providers.map { ($0.manifest.kind, $0) }) { first, _ in first }
        let unread = logger.map(UnreadFieldLog.init)
        var configured: [ConfiguredAccount] = []
        var faults: [String] = []
        for account in accounts {
            guard let type = types[account.kind] else { continue }
            let context = ProviderContext(
                http: transport, time: SystemDependencies.time, businessTime: businessTime,
                random: SystemDependencies.random,
                book: book(account.id),
                notifyURL: "\(http.publicURL)/v1/notify/\(account.notifyToken ?? "")", publicURL: http.publicURL,
                log: logger.flatMap { logger in unread.map { .to(logger, account: account.id, unread: $0) } } ?? .silent
            )
            let settings = ProviderAccount(
                id: account.id, settings: account.settings, isDevelopment: isDevelopment, box: box)
            // Goods that anybody can have for nothing are worth a second lock.
            guard takesTestAccounts || !type.isTest(account.settings) else {
                faults.append("\(account.file): settings: are those of the provider's test mode; use live ones")
                continue
            }
            do throws(ProviderSetupError) {
                configured.append(
                    ConfiguredAccount(
                        id: account.id, provider: try type.init(account: settings, context: context),
                        isTest: type.isTest(account.settings), enabled: account.enabled, routing: account.routing,
                        notifyToken: account.notifyToken))
            } catch {
                faults += error.faults.map { "\(account.file): settings.\($0.setting): \($0.problem); \($0.remedy)" }
            }
        }
        faults += configured.compactMap { account in processorFault(of: account, among: configured) }
        guard faults.isEmpty else { throw .usage(faults.joined(separator: "\n")) }
        return ProviderRegistry(kinds: providers, accounts: configured)
    }

    /// Returns the reason why no account could charge a wallet's tokens, so that the start fails and not the first
    /// payment.
    private func processorFault(
        of account: ConfiguredAccount, among configured: [ConfiguredAccount]
    ) -> String? {
        guard account.enabled, let wallet = account.provider as? any InstrumentVerifying else { return nil }
        let file = accounts.first { $0.id == account.id }?.file ?? account.id.rawValue
        guard let processor = configured.first(where: { $0.id == wallet.processor }) else {
            // A processor with faulty settings is reported by itself.
            if accounts.contains(where: { $0.id == wallet.processor }) { return nil }
            return "\(file): settings.processor: is no account; name the file in providers/ that charges, without .yaml"
        }
        let name = processor.id.rawValue
        guard processor.enabled else {
            return
                "\(file): settings.processor: \(name) is not enabled; enable it, with weight: 0 where it should only charge"
        }
        let forms = processor.manifest.instruments
        guard !forms.contains(wallet.tokenForm) else { return nil }
        let able = forms.map(\.rawValue).joined(separator: ", ")
        let remedy = forms.isEmpty ? "name an account that charges tokens" : "write \(able)"
        return "\(file): settings.token_form: \(name) does not charge \(wallet.tokenForm.rawValue) tokens; \(remedy)"
    }
}

extension Configuration.Auth {
    func tokenRules(fetchJWKS: @escaping @Sendable (String) async -> String?) throws(CommandError) -> UserTokenRules {
        let userKeys: UserKeys
        switch keys {
        case .hs256(let secrets): userKeys = .secrets(secrets.map { Array($0.wrappedValue.utf8) })
        case .jwksFile(let path):
            guard let json = try? String(contentsOfFile: path, encoding: .utf8) else {
                throw .usage("paydesk.yaml: auth.jwks_file: cannot be read; name a readable file")
            }
            userKeys = .set(json: json)
        case .jwksURL(let address): userKeys = .remote { await fetchJWKS(address) }
        }
        return UserTokenRules(
            keys: userKeys, issuer: issuer ?? "", audience: audience ?? "", claim: userClaim,
            maxLifetimeHours: maxLifetimeHours)
    }
}

extension Configuration {
    /// Loads the configuration of a folder, or throws all its faults as one error.
    static func load(
        _ folder: String, providers: [any PaymentProvider.Type], overrides: ConfigurationOverrides = .init()
    ) throws(CommandError) -> Configuration {
        let types = Dictionary(providers.map { ($0.manifest.kind, $0) }) { first, _ in first }
        do throws(ConfigurationError) {
            return try ConfigurationLoader.load(
                folder: folder, environment: ProcessInfo.processInfo.environment,
                manifests: types.mapValues { $0.manifest },
                isTest: { kind, settings in types[kind]?.isTest(settings) ?? false },
                developmentSecrets: DevelopmentSecretsFile(random: SystemDependencies.random), overrides: overrides)
        } catch {
            throw .usage("\(error)")
        }
    }
}

extension Configuration {
    /// The folder of `PAYDESK_ASSETS`, whose files are served in the place of the embedded assets; only in development.
    fileprivate var assets: URL? {
        guard isDevelopment, let folder = ProcessInfo.processInfo.environment["PAYDESK_ASSETS"], !folder.isEmpty else {
            return nil
        }
        return URL(filePath: folder)
    }
}
