import Domain
import Foundation
import Gateway
import HTTPAPI
import Logging
import ServiceLifecycle
import UnixSignals

/// Reads the configuration anew at SIGHUP, and the certificate also where its file has changed.
///
/// A running server takes meters, the keys of users' tokens and the certificate; what else has changed needs a restart,
/// and a log line names it. A configuration with a fault changes nothing.
final class ConfigurationReload: Service {
    /// The pause between two looks at the certificate's file, which a program may renew without a signal.
    private static let pause = Duration.seconds(60)

    private let signals: UnixSignalsSequence
    private let load: @Sendable () throws(CommandError) -> Configuration
    private let served: Served
    private let running: RunningConfiguration
    private let logger: Logger

    /// The parts of the server that take new settings.
    struct Served: Sendable {
        let api: API
        let meters: ConfiguredMeters
        let certificate: ServedCertificate?
        let fetchJWKS: @Sendable (String) async -> String?
    }

    /// - Parameters:
    ///   - signals: trapped since the start of the process, because SIGHUP would end it.
    ///   - load: reads the files as the start did.
    init(
        _ running: RunningConfiguration, signals: UnixSignalsSequence, served: Served, logger: Logger,
        load: @escaping @Sendable () throws(CommandError) -> Configuration
    ) {
        self.running = running
        self.signals = signals
        self.served = served
        self.logger = logger
        self.load = load
    }

    func run() async throws {
        await cancelWhenGracefulShutdown { [self] in
            await withTaskGroup(of: Void.self) { group in
                group.addTask { for await _ in self.signals { self.reload() } }
                if served.certificate != nil { group.addTask { await self.watchCertificate() } }
                await group.waitForAll()
            }
        }
    }

    /// Takes what a running server can take of the configuration as it is now, or nothing where it has a fault.
    func reload() {
        let old = running.now
        do throws(CommandError) {
            let new = try load()
            let certificate = try Self.certificate(of: new)
            let rules = try new.auth.tokenRules(fetchJWKS: served.fetchJWKS)
            if let certificate { try replace(by: certificate) }
            if !old.auth.isSame(as: new.auth) { served.api.replaceTokenRules(by: rules) }
            served.meters.replace(by: new.meters)
            running.take(auth: new.auth, meters: new.meters, tls: new.http.tls)
            logger.notice("the configuration was read anew", metadata: certificate?.metadata)
            for name in ConfigurationChanges.needingRestart(from: old, to: new) {
                logger.warning("\(name) has changed and needs a restart", metadata: ["key": "\(name)"])
            }
        } catch {
            for line in error.message.split(separator: "\n") {
                logger.error("the configuration was not read anew: \(line)")
            }
        }
    }

    private static func certificate(of configuration: Configuration) throws(CommandError) -> ServerTLS? {
        guard let files = configuration.http.tls else { return nil }
        return try ServerTLS(files)
    }

    /// Serves another certificate to new connections; where the start served none, that needs a restart.
    private func replace(by tls: ServerTLS) throws(CommandError) {
        do { try served.certificate?.replace(by: tls) } catch {
            throw .usage("paydesk.yaml: http.tls: cannot be served")
        }
    }

    // MARK: The certificate's file

    private func watchCertificate() async {
        var seen = fileVersion
        while !Task.isCancelled {
            await SystemDependencies.pause(Self.pause)
            let version = fileVersion
            guard version != seen, !Task.isCancelled else { continue }
            if reloadCertificate() { seen = version }
        }
    }

    /// The time and size of the certificate's file; nil while it is not there.
    private var fileVersion: [String]? {
        guard let path = running.now.http.tls?.certificatePath,
            let found = try? FileManager.default.attributesOfItem(atPath: path)
        else { return nil }
        return [.modificationDate, .size, .systemFileNumber].map { (key: FileAttributeKey) in "\(found[key] ?? "")" }
    }

    /// Takes the certificate and its key alone; half of a pair that is being replaced is looked at again later.
    ///
    /// - Returns: false where it could not be taken.
    func reloadCertificate() -> Bool {
        do throws(CommandError) {
            let new = try load()
            guard let tls = try Self.certificate(of: new) else { return true }
            try replace(by: tls)
            running.take(tls: new.http.tls)
            logger.notice("the certificate was read anew", metadata: tls.metadata)
            return true
        } catch {
            for line in error.message.split(separator: "\n") {
                logger.warning("the certificate was not read anew: \(line)")
            }
            return false
        }
    }
}

extension ServerTLS {
    fileprivate var metadata: Logger.Metadata { ["certificate_until": "\(validUntil.utcDate)"] }
}
