import AlipayProvider
import Domain
import Foundation
import ProviderKit
import ProviderTesting
import Testing
import X509
import _CryptoExtras

struct AlipayDoctorTests {
    private func diagnose(
        _ fixture: AlipayFixture, _ settings: [String: SettingValue] = [:]
    ) async throws -> [Diagnosis] {
        let provider = try fixture.provider(settings)
        return provider.examine() + (await provider.diagnose())
    }

    @Test func `good keys are good`() async throws {
        let found = try await diagnose(AlipayFixture())
        #expect(found.map(\.level) == [.good] && found[0].words.contains("accepts the application's key"))
    }

    @Test func `an application whose key Alipay does not know is told which key to set`() async throws {
        let fixture = AlipayFixture(FakeAlipayServer(key: AlipayTestCertificates.stranger.publicKey))
        let found = try await diagnose(fixture)
        #expect(found.map(\.level) == [.fault] && found[0].words.contains("isv.invalid-signature"))
        #expect(found[0].words.contains(/begins with ([0-9a-f]{2}:){7}[0-9a-f]{2}/))
        #expect(
            fixture.logged.contains { $0.contains("the answer is not signed") && $0.contains("isv.invalid-signature") })
        let other = try await diagnose(AlipayFixture(), ["app_id": .text("2021000000000009")])
        #expect(other.map(\.level) == [.fault] && other[0].words.contains("check app_id"))
    }

    @Test func `an answer that the set key does not prove is a fault`() async throws {
        let stranger = AlipayTestCertificates.bare(AlipayTestCertificates.stranger.publicKey.pemRepresentation)
        let found = try await diagnose(AlipayFixture(), ["alipay_public_key": .text(stranger)])
        #expect(found.map(\.level) == [.fault] && found[0].words.contains("copy Alipay's public key"))
    }

    @Test func `no answer is no fault`() async throws {
        let silent = AlipayFixture { _ throws(HTTPTransportError) in throw .notSent }
        #expect(try await diagnose(silent).map(\.level) == [.notice])
        let troubled = AlipayFixture { _ in
            FakeAlipayServer.reply("alipay.trade.query", Data(#"{"code":"20000","sub_code":"aop.unknow-error"}"#.utf8))
        }
        #expect(try await diagnose(troubled).map(\.level) == [.notice])
        let forbidden = AlipayFixture { _ in
            FakeAlipayServer.reply(
                "alipay.trade.query", Data(#"{"code":"40006","sub_code":"isv.insufficient-isv-permissions"}"#.utf8))
        }
        #expect(try await diagnose(forbidden).map(\.level) == [.fault])
    }

    @Test func `certificates are compared with the clock`() async throws {
        let fixture = AlipayFixture(FakeAlipayServer(certificate: AlipayTestCertificates.alipayNumber))
        let now = fixture.clock.now.rawValue
        func certificate(_ end: Int64) -> String {
            AlipayTestCertificates.certificate(
                "Alipay", of: .init(AlipayTestCertificates.alipay.publicKey),
                by: .init(AlipayTestCertificates.stranger),
                serial: [0x20, 0x25, 0x11, 0x06], until: end)
        }
        for (end, level) in [
            (now + 100 * 86_400, Diagnosis.Level.good), (now + 86_400, .notice), (now, .fault),
        ] {
            let found = try await diagnose(fixture, AlipayFixture.certificateMode(alipay: certificate(end)))
            #expect(found.map(\.level) == [.good, level, .good])
            #expect(
                found.map(\.subject) == [
                    "app_certificate", "alipay_certificates \(AlipayTestCertificates.alipayNumber)", "gateway",
                ])
        }
    }
}
