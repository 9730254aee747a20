import Domain
import Foundation
import ProviderKit
import ProviderTesting
import Synchronization
import Testing
import WeChatPayProvider

/// Tests that platform certificates are fetched, stored and renewed, and never because of a forged message.
struct WeChatPayPlatformTests {
    private let fixture = WeChatPayFixture()
    private let body = FakeWeChatPayServer.event("OTHER.EVENT", ["a": 1])

    private var fetches: Int { fixture.standIn.state.withLock { $0.fetches } }

    @Test func `they are fetched once for many calls`() async throws {
        let provider = try fixture.provider()
        for _ in 0..<5 {
            _ = try await provider.query(fixture.reference(fixture.attempt()))
            _ = try await provider.receive(fixture.notification(body))
        }
        #expect(fetches == 1)
        fixture.clock.advance(seconds: 12 * 3_600)
        _ = try await provider.receive(fixture.notification(body))
        #expect(fetches == 2, "twice a day they are looked at again")
    }

    @Test func `many calls at the same time fetch them once`() async throws {
        let (provider, fixture) = (try fixture.provider(), fixture)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 {
                group.addTask { _ = try await provider.query(fixture.reference(fixture.attempt())) }
            }
            try await group.waitForAll()
        }
        #expect(fetches == 1)
    }

    @Test func `a new certificate is found by its first signature`() async throws {
        let provider = try fixture.provider()
        _ = try await provider.receive(fixture.notification(body))
        fixture.clock.advance(seconds: 61)
        fixture.standIn.state.withLock { state in
            state.certificates.append(WeChatPayTestCertificates.nextPlatform)
            state.seal = WeChatPaySeal(.nextPlatform)
        }
        _ = try await provider.receive(fixture.notification(body, by: WeChatPaySeal(.nextPlatform)))
        #expect(fetches == 2)
        _ = try await provider.query(fixture.reference(fixture.attempt()))
        _ = try await provider.receive(fixture.notification(body, by: .platform))
        #expect(fetches == 2, "the old one counts as long as WeChat Pay has it")
    }

    @Test func `unknown serial numbers fetch no more than once a minute`() async throws {
        let provider = try fixture.provider()
        func flood() async {
            for number in 0..<200 {
                let seal = WeChatPaySeal(
                    key: WeChatPayTestCertificates.stranger.key, serial: String(number + 4_096, radix: 16))
                await #expect(throws: ProviderError.unproven(.certificate)) {
                    try await provider.receive(fixture.notification(body, by: seal))
                }
            }
        }
        await flood()
        #expect(fetches == 1)
        fixture.clock.advance(seconds: 60)
        await flood()
        #expect(fetches == 2)
    }

    @Test func `while they cannot be fetched a flood asks once in ten seconds`() async throws {
        let silent = WeChatPayFixture { _ throws(HTTPTransportError) in throw .outcomeUnknown }
        let provider = try silent.provider()
        for turn in 1...3 {
            for _ in 0..<50 {
                await #expect(throws: ProviderError.unavailable) {
                    try await provider.receive(silent.notification(body))
                }
            }
            #expect(silent.calls.count == turn)
            silent.clock.advance(seconds: 10)
        }
    }

    @Test func `those of yesterday count while WeChat Pay cannot be asked`() async throws {
        let provider = try fixture.provider()
        _ = try await provider.receive(fixture.notification(body))
        fixture.clock.advance(seconds: 86_400)
        fixture.transport.behaviour = .unavailable
        _ = try await provider.receive(fixture.notification(body))
        await #expect(throws: ProviderError.unavailable) {
            try await provider.receive(fixture.notification(body, by: WeChatPaySeal(.nextPlatform)))
        }
        fixture.clock.advance(seconds: 2 * 86_400)
        await #expect(throws: ProviderError.unavailable) { try await provider.receive(fixture.notification(body)) }
    }

    @Test func `nothing is opened before its answer could be proven`() async throws {
        fixture.standIn.script("/certificates", IncomingReply(status: 500))
        await #expect(throws: ProviderError.unavailable) { try await fixture.provider().open(fixture.attempt()) }
        #expect(fixture.calls == ["GET /v3/certificates"])
    }

    @Test(arguments: ["another key", "no signature", "signed by a stranger", "serial differs", "no certificates"])
    func `certificates that do not prove themselves are not used`(fault: String) async throws {
        let now = fixture.clock.now.rawValue
        let key = fault == "another key" ? String(repeating: "k", count: 32) : FakeWeChatPayServer.apiKey
        let pair =
            fault == "signed by a stranger" ? WeChatPayTestCertificates.stranger : WeChatPayTestCertificates.platform
        let item: [String: Any] = [
            "serial_no": fault == "serial differs" ? "1" : WeChatPayTestCertificates.platform.serial,
            "encrypt_certificate": WeChatPayTestCertificates.sealed(
                Data(WeChatPayTestCertificates.platform.pem.utf8), key),
        ]
        let object = ["data": fault == "no certificates" ? [] : [item]]
        var reply = FakeWeChatPayServer.signed(200, object, WeChatPaySeal(key: pair.key, serial: pair.serial), now)
        if fault == "no signature" { reply.headers = [] }
        fixture.standIn.script("/certificates", reply)
        await #expect(throws: ProviderError.unavailable) {
            try await fixture.provider().receive(fixture.notification(body))
        }
        #expect(fixture.logged.contains { $0.hasPrefix("error wechat pay: an answer whose signature") })
    }

    @Test func `a notification waits no longer for them than WeChat Pay waits for us`() async throws {
        _ = try await fixture.provider().receive(fixture.notification(body))
        #expect(fixture.transport.requests.map(\.timeoutMilliseconds) == [3_000])
    }

    @Test func `a merchant with a public key alone has no certificates, and needs none`() async throws {
        fixture.standIn.state.withLock { $0.certificates = [] }
        let provider = try fixture.provider(WeChatPayFixture.publicKey)
        fixture.standIn.state.withLock { $0.seal = .publicKey }
        _ = try await provider.query(fixture.reference(fixture.attempt()))
        #expect(fetches == 0)
        for _ in 0..<5 {
            await #expect(throws: ProviderError.unproven(.certificate)) {
                try await provider.receive(fixture.notification(body))
            }
        }
        #expect(fetches == 1)
    }
}
