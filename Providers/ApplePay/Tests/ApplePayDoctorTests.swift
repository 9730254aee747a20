import Foundation
import ProviderKit
import ProviderTesting
import TestSupport
import Testing

@testable import ApplePayProvider

struct ApplePayDoctorTests {
    @Test func `a sound account is good throughout`() async throws {
        let provider = try ApplePayFixture().provider()
        let found = provider.examine() + (await provider.diagnose())
        #expect(
            found.map(\.subject) == [
                "Payment Processing 1", "Payment Processing 2", "Merchant Identity", "domain file", "self-test",
                "gateway",
            ])
        #expect(found.allSatisfy { $0.level == .good }, "\(found)")
        #expect(found[0].words.contains("days, on 20"))
    }

    @Test func `what is missing is said and is no fault`() async throws {
        let fixture = ApplePayFixture()
        let provider = try fixture.provider {
            $0["payment_processing"] = nil
            $0["identity"] = nil
            $0["domain_association"] = nil
        }
        let found = provider.examine()
        #expect(found.map(\.level) == [.notice, .notice, .notice, .good])
        #expect(await provider.diagnose().isEmpty && fixture.requests.isEmpty)
    }

    @Test func `an identity that has expired is a fault`() throws {
        let identity = ApplePayTestTokens.merchant("Merchant Identity", ApplePayTestTokens.identity.key) {
            $0.last = 1_795_000_000 - 60
        }
        let provider = try ApplePayFixture().provider { $0["identity"] = ApplePayGatewayFixtureSetup.pair(identity) }
        let found = try #require(provider.examine().first { $0.subject == "Merchant Identity" })
        #expect(found.level == .fault && found.words.hasPrefix("expired on "), "\(found)")
    }

    @Test(arguments: [
        (20, Diagnosis.Level.notice, "expires in 19 days"), (400, .good, "expires in"), (-1, .notice, "expired on"),
    ])
    func `an expiry that comes near is told`(_ days: Int, _ level: Diagnosis.Level, _ words: String) throws {
        let now: Int64 = 1_795_000_000
        let pair = ApplePayTestTokens.merchant("Payment Processing", ApplePayTestTokens.processingEC.key) {
            $0.last = now + Int64(days) * 86_400 - 60
        }
        let provider = try ApplePayFixture().provider {
            $0["payment_processing"] = .list([ApplePayGatewayFixtureSetup.pair(pair)])
        }
        let found = try #require(provider.examine().first)
        #expect(found.level == level && found.words.hasPrefix(words) || found.words.contains(words), "\(found)")
    }

    @Test(arguments: [
        (417, "do not belong together"), (400, "not verified"), (403, "not accepted"), (404, "answered 404"),
    ])
    func `Apple's refusals are explained`(_ status: Int, _ words: String) async throws {
        let fixture = ApplePayFixture()
        let answer: ApplePayFixture.Answer = { _ in IncomingReply(status: status) }
        fixture.answer(answer, answer)
        let found = try #require(await fixture.provider().diagnose().first)
        #expect(found.level == .fault && found.words.contains(words), "\(found)")
    }
}
