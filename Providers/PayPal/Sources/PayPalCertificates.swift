import Domain
import FoundationEssentials
import ProviderKit
import SwiftASN1
@_spi(FixedExpiryValidationTime) import X509
import _CryptoExtras

/// The certificates with which PayPal signs notifications, fetched only from its own hosts.
///
/// The key of a valid chain is cached in memory, with the period in which the whole chain is valid.
struct PayPalCertificates: Sendable {
    /// The hosts of PayPal's certificates, from its documentation and notifications.
    static let hosts: Set<String> = [
        "api.paypal.com", "api-m.paypal.com", "api.sandbox.paypal.com", "api-m.sandbox.paypal.com",
    ]
    private static let folder = "/v1/notifications/certs/"
    private static let lifetime: Int64 = 86_400
    /// The limit of fetches in a period of seconds, because forged notifications can cause them.
    private static let budget: (fetches: Int, seconds: Int64) = (6, 60)
    private static let sizeLimit = 64 << 10
    private static let chainLimit = 8

    let settings: PayPalSettings
    let context: ProviderContext

    private struct Proven: Codable {
        let key: Data
        let from: Timestamp
        let until: Timestamp
    }

    /// Returns the key of the certificate at an address, valid at a time.
    ///
    /// - Throws: `unproven` for another host, chain or name, `unavailable` where it cannot be fetched now.
    func key(_ address: String, at time: Timestamp) async throws(ProviderError) -> _RSA.Signing.PublicKey {
        guard isPayPals(address) else { throw .unproven(.certificate) }
        let (certificates, clock) = (self, context.time)
        let data = try await context.cache.value("certificate \(address)") { () async throws(ProviderError) in
            let proven = try await certificates.proven(try await certificates.fetch(address), at: time)
            guard let data = try? JSONEncoder().encode(proven) else { throw .unavailable }
            return ProviderCache.Entry(data, until: clock.now.adding(seconds: Self.lifetime))
        }
        guard let proven = try? JSONDecoder().decode(Proven.self, from: data),
            (proven.from...proven.until).contains(time),
            let key = try? _RSA.Signing.PublicKey(derRepresentation: proven.key)
        else { throw .unproven(.certificate) }
        return key
    }

    private func proven(_ pem: Data, at time: Timestamp) async throws(ProviderError) -> Proven {
        guard let documents = try? PEMDocument.parseMultiple(pemString: String(decoding: pem, as: UTF8.self)),
            (1...Self.chainLimit).contains(documents.count)
        else { throw .unproven(.certificate) }
        let found = documents.compactMap { try? Certificate(pemDocument: $0) }
        guard found.count == documents.count, let leaf = found.first, leaf.isPayPals,
            let key = _RSA.Signing.PublicKey(leaf.publicKey),
            let chain = await trusted(leaf, found.dropFirst(), at: time),
            let from = chain.map(\.notValidBefore).max(), let until = chain.map(\.notValidAfter).min(), from <= until
        else { throw .unproven(.certificate) }
        return Proven(
            key: key.derRepresentation, from: Timestamp(Int64(from.timeIntervalSince1970)),
            until: Timestamp(Int64(until.timeIntervalSince1970)))
    }

    private func isPayPals(_ text: String) -> Bool {
        guard let address = WebAddress(text), address.isWeb, let name = address.rest.split(separator: "/").last,
            address.rest == Self.folder + name, PayPalText.id(String(name)) != nil
        else { return false }
        // In development the fake API serves its certificates as well; the settings refuse http elsewhere.
        let isStandIn = settings.base.hasPrefix("http://") && settings.base == address.origin
        return isStandIn || (address.scheme == "https" && address.port == 443 && Self.hosts.contains(address.host))
    }

    /// Returns the chain up to a trusted root; nil where there is none.
    private func trusted(
        _ leaf: Certificate, _ rest: some Sequence<Certificate>, at time: Timestamp
    ) async -> [Certificate]? {
        let anchors =
            settings.roots.isEmpty ? CertificateStore.systemTrustRoots : CertificateStore(settings.roots)
        let now = Date(timeIntervalSince1970: TimeInterval(time.rawValue))
        var verifier = Verifier(rootCertificates: anchors) { RFC5280Policy(fixedExpiryValidationTime: now) }
        guard
            case .validCertificate(let chain) = await verifier.validate(
                leaf: leaf, intermediates: CertificateStore(rest))
        else { return nil }
        return Array(chain)
    }

    private func fetch(_ address: String) async throws(ProviderError) -> Data {
        guard spend() else { throw .unavailable }
        let request = OutgoingRequest(
            method: "GET", url: address,
            headers: [(name: "Accept", value: "*/*"), (name: "User-Agent", value: "paydesk")],
            timeoutMilliseconds: 5_000, maxReplyBytes: Self.sizeLimit)
        let reply: IncomingReply
        do throws(HTTPTransportError) { reply = try await context.http.send(request) } catch { throw .unavailable }
        context.log.write(
            reply.status == 200 ? .debug : .warning, "paypal: certificate fetched", ["status": "\(reply.status)"])
        // A certificate that PayPal does not have is a forgery's; other failures may be temporary.
        if reply.status == 404 { throw .unproven(.certificate) }
        guard reply.status == 200 else { throw .unavailable }
        return reply.body
    }

    private func spend() -> Bool {
        let (name, now) = ("certificate_fetches", context.time.now)
        let known = context.cache.value(name).flatMap { try? JSONDecoder().decode(Spent.self, from: $0) }
        let spent = known ?? Spent(count: 0, until: now.adding(seconds: Self.budget.seconds))
        guard spent.count < Self.budget.fetches else { return false }
        let more = Spent(count: spent.count + 1, until: spent.until)
        guard let data = try? JSONEncoder().encode(more) else { return false }
        context.cache.keep(name, ProviderCache.Entry(data, until: more.until))
        return true
    }

    private struct Spent: Codable {
        let count: Int
        let until: Timestamp
    }
}

extension Certificate {
    /// True where the subject, or an alternative name, is a host of PayPal's.
    fileprivate var isPayPals: Bool {
        var names = subject.flatMap { $0.filter { $0.type == .RDNAttributeType.commonName } }.map { "\($0.value)" }
        for case .dnsName(let name) in (try? extensions.subjectAlternativeNames) ?? SubjectAlternativeNames() {
            names.append(name)
        }
        return names.contains { $0.lowercased().hasSuffix(".paypal.com") }
    }
}
