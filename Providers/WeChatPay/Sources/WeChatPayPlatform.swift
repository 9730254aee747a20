import Domain
import FoundationEssentials
import ProviderKit
import SwiftASN1
import X509
import _CryptoExtras

/// WeChat Pay's platform certificates, as `GET /v3/certificates` last gave them.
struct WeChatPayCertificates: Codable, Sendable {
    struct Item: Codable, Sendable {
        let serial: String
        let pem: String
    }

    /// No stranger's word makes us ask for them more often than this, in seconds.
    static let leastAge: Int64 = 60
    /// WeChat Pay renews a certificate days before the old one ends, and wants to be asked twice a day.
    static let freshness: Int64 = 12 * 3_600
    /// So long they are used while WeChat Pay cannot be asked.
    static let lifetime: Int64 = 3 * 86_400
    static let limit = 16

    let fetchedAt: Timestamp
    let items: [Item]

    /// - Returns: nil where there is none of this number that is valid at this time.
    func key(_ serial: String, at time: Timestamp) -> _RSA.Signing.PublicKey? {
        let now = Date(timeIntervalSince1970: TimeInterval(time.rawValue))
        guard let item = items.first(where: { $0.serial == serial }),
            let certificate = try? Certificate(pemEncoded: item.pem),
            certificate.notValidBefore <= now, now <= certificate.notValidAfter
        else { return nil }
        return _RSA.Signing.PublicKey(certificate.publicKey)
    }

    func isFresh(at now: Timestamp) -> Bool { now < fetchedAt.adding(seconds: Self.freshness) }
    func mayBeOutdated(at now: Timestamp) -> Bool { now >= fetchedAt.adding(seconds: Self.leastAge) }
}

/// The keys by which WeChat Pay proves what it says: its public key, or its platform certificates.
///
/// The certificates stand in the account's cache. A serial number that is not among them has them fetched again, at most
/// once a minute, so that notifications with made-up numbers cost nothing.
struct WeChatPayPlatform: Sendable {
    private static let name = "platform_certificates"
    private static let failure = "platform_certificates_failed"
    /// After a fetch that failed, in seconds.
    private static let patience: Int64 = 10

    let publicKey: WeChatPayPublicKey?
    let cache: ProviderCache
    let time: TimeSource
    /// Fetches, decrypts and verifies; the time limit in milliseconds.
    let fetch: @Sendable (Int64) async throws(ProviderError) -> WeChatPayCertificates

    /// Sees to it that an answer can be verified before anything is asked for.
    ///
    /// - Throws: `unavailable` where the certificates are not to be had.
    func prepare() async throws(ProviderError) {
        if publicKey == nil { _ = try await certificates(having: nil, timeout: 10_000) }
    }

    /// - Throws: `unproven` for a number that WeChat Pay does not have, `unavailable` where that cannot be told.
    func key(_ serial: String, timeout: Int64) async throws(ProviderError) -> _RSA.Signing.PublicKey {
        if serial.hasPrefix(WeChatPayPublicKey.prefix) {
            guard let publicKey, publicKey.id == serial else { throw .unproven(.certificate) }
            return publicKey.key
        }
        guard let key = try await certificates(having: serial, timeout: timeout).key(serial, at: time.now) else {
            throw .unproven(.certificate)
        }
        return key
    }

    private func certificates(
        having serial: String?, timeout: Int64
    ) async throws(ProviderError) -> WeChatPayCertificates {
        let (time, cache, fetch, now) = (time, cache, fetch, time.now)
        do throws(ProviderError) {
            let data = try await cache.value(
                Self.name,
                where: { data in
                    guard let known = Self.read(data) else { return false }
                    let isKnown = serial.map { known.key($0, at: now) != nil } ?? true
                    return isKnown ? known.isFresh(at: now) : !known.mayBeOutdated(at: now)
                },
                orMake: { () async throws(ProviderError) -> ProviderCache.Entry in
                    guard cache.value(Self.failure) == nil else { throw .unavailable }
                    do throws(ProviderError) {
                        let made = try await fetch(timeout)
                        guard let data = try? JSONEncoder().encode(made) else { throw .unavailable }
                        return ProviderCache.Entry(
                            data, until: time.now.adding(seconds: WeChatPayCertificates.lifetime))
                    } catch {
                        cache.keep(
                            Self.failure,
                            ProviderCache.Entry(Data(), until: time.now.adding(seconds: Self.patience)))
                        throw error
                    }
                })
            if let known = Self.read(data) { return known }
        } catch {
            // Those of yesterday are good as long as they themselves say so.
            guard let known = cache.value(Self.name).flatMap(Self.read),
                serial.map({ known.key($0, at: now) != nil }) ?? true
            else { throw error }
            return known
        }
        throw .unavailable
    }

    private static func read(_ data: Data) -> WeChatPayCertificates? {
        try? JSONDecoder().decode(WeChatPayCertificates.self, from: data)
    }
}

/// The answer to `GET /v3/certificates`.
struct WeChatPayCertificateList: Decodable, Sendable {
    struct Item: Decodable, Sendable {
        let serial_no: String
        let encrypt_certificate: WeChatPayResource
    }

    let data: [Item]

    /// Only what the APIv3 key decrypts, is a certificate and has the number that the list says.
    func certificates(by key: [UInt8], at now: Timestamp) -> WeChatPayCertificates {
        let items = data.prefix(WeChatPayCertificates.limit).compactMap { item -> WeChatPayCertificates.Item? in
            guard let plain = try? item.encrypt_certificate.opened(by: key),
                let certificate = try? Certificate(pemEncoded: String(decoding: plain, as: UTF8.self)),
                certificate.wechatSerial == WeChatPayText.serial(item.serial_no)
            else { return nil }
            return WeChatPayCertificates.Item(
                serial: certificate.wechatSerial, pem: String(decoding: plain, as: UTF8.self))
        }
        return WeChatPayCertificates(fetchedAt: now, items: items)
    }
}
