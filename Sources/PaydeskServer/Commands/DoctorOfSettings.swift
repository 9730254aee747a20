import Domain
import ProviderKit

// The checks of `paydesk doctor` that need no database.
extension Configuration {
    /// Checks the TLS certificate and key, and the validity period of the certificate.
    func examineTLS(at now: Timestamp) -> [DoctorFinding] {
        guard let files = http.tls else { return [] }
        do throws(CommandError) {
            let tls = try ServerTLS(files)
            let end = tls.validUntil
            guard tls.validFrom <= now else {
                let words =
                    "the certificate begins on \(tls.validFrom.utcDate); set the clock, or use one that is valid"
                return [DoctorFinding("tls", good: false, words)]
            }
            let renewal = "renew it; a server takes it within a minute, or at SIGHUP"
            guard end > now else {
                return [DoctorFinding("tls", good: false, "the certificate ended on \(end.utcDate); \(renewal)")]
            }
            guard end > now.adding(days: 14) else {
                return [DoctorFinding(warning: "tls", "the certificate ends on \(end.utcDate); \(renewal)")]
            }
            return [DoctorFinding("tls", good: true, "the certificate is its key's and ends on \(end.utcDate)")]
        } catch {
            return [DoctorFinding("tls", good: false, error.message)]
        }
    }

    /// Checks the public address for clients that know its origin only.
    func examinePublicURL() -> [DoctorFinding] {
        let parts = http.publicURL.split(separator: "/", omittingEmptySubsequences: true)
        guard parts.count > 2 else { return [] }
        let words =
            "http.public_url has a path, so OpenIAP's clients, which take an origin only, cannot reach /v1/purchase/verify"
        return [DoctorFinding(warning: "public_url", words)]
    }

    /// Checks the number of live streams against the connections of this machine.
    ///
    /// - Parameter connections: the most connections of clients.
    func examineStreams(_ connections: Int) -> [DoctorFinding] {
        let most = connections / 2
        guard limits.streams > most else { return [] }
        let words =
            "limits.streams is \(limits.streams), but a node opens at most \(most): half of its \(connections) connections; "
            + "raise the limit of open files (ulimit -n), or lower it"
        // The default is a bound for large machines; only a larger number was meant to be reached.
        guard limits.streams > Configuration.Limits.defaultStreams else {
            return [DoctorFinding("streams", good: true, words)]
        }
        return [DoctorFinding(warning: "streams", words)]
    }

    /// Checks that the keys that verify users' tokens can be fetched.
    func examineKeySet(by transport: any HTTPTransport) async -> [DoctorFinding] {
        guard case .jwksURL(let address) = auth.keys else { return [] }
        do throws(KeySetFetch.Failure) {
            _ = try await KeySetFetch(address: address, transport: transport).text()
            return [DoctorFinding("auth", good: true, "\(address) gives keys that verify tokens")]
        } catch {
            let remedy = "until it gives keys, every user's request is answered with 503"
            return [DoctorFinding("auth", good: false, "auth.jwks_url, \(address): \(error); \(remedy)")]
        }
    }
}
