import Domain
import FoundationEssentials
import ProviderKit
import SwiftASN1
import X509
import _CryptoExtras

/// WeChat Pay's platform certificates, from the last answer of `GET /v3/certificates`.
struct WeChatPayCertificates: Codable, Sendable {
    struct Item: Codable, Sendable {
        let serial: String
        let pem: String
    }

    /// The seconds between two fetches, because forged notifications can cause them.
    static let leastAge: Int64 = 60
    /// The seconds after which the certificates are fetched again: WeChat Pay renews a certificate days before the old
    /// one ends, and recommends two fetches a day.
    static let freshness: Int64 = 12 * 3_600
    /// The seconds for which they are used while WeChat Pay cannot be reached.
    static let lifetime: Int64 = 3 * 86_400
    static let limit = 16

    let fetchedAt: Timestamp
    let items: [Item]

    /// - Returns: nil without a certificate of this number that is valid at this time.
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

/// The keys that verify WeChat Pay's messages: its public key, or its platform certificates.
///
/// The certificates are in the account's cache. An unknown serial number causes another fetch, at most once a minute,
/// so that notifications with invented numbers cost nothing.
struct WeChatPayPlatform: Sendable {
    private static let name = "platform_certificates"
    private static let failure = "platform_certificates_failed"
    /// The seconds after a failed fetch until the next one.
    private static let patience: Int64 = 10

    let publicKey: WeChatPayPublicKey?
    let cache: ProviderCache
    let time: TimeSource
    /// Fetches, decrypts and verifies the certificates; the argument is the time limit in milliseconds.
    let fetch: @Sendable (Int64) async throws(ProviderError) -> WeChatPayCertificates

    /// Makes sure that answers can be verified, before a call is made.
    ///
    /// - Throws: `unavailable` where the certificates cannot be fetched.
    func prepare() async throws(ProviderError) {
        if publicKey == nil { _ = try await certificates(having: nil, timeout: 10_000) }
    }

    /// - Throws: `unproven` for a number that WeChat Pay does not have, `unavailable` where that cannot be determined.
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
            // Older certificates are used within their own validity.
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

    /// Returns the certificates that the APIv3 key decrypts and that have the listed number.
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
