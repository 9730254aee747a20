import Domain
import Synchronization

/// The configuration that this server runs with: that of the start, with what was taken since.
final class RunningConfiguration: Sendable {
    private let state: Mutex<Configuration>

    init(_ configuration: Configuration) { state = Mutex(configuration) }

    var now: Configuration { state.withLock { $0 } }

    /// Takes the settings of another configuration that a running server can take.
    ///
    /// A certificate is taken only where the start served one.
    func take(auth: Configuration.Auth, meters: [Meter], tls: Configuration.TLS?) {
        state.withLock { configuration in
            configuration.auth = auth
            configuration.meters = meters
            if configuration.http.tls != nil, let tls { configuration.http.tls = tls }
        }
    }

    func take(tls: Configuration.TLS?) {
        state.withLock { if $0.http.tls != nil, let tls { $0.http.tls = tls } }
    }
}
