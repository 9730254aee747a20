import Domain
import Foundation
import ProviderKit
import ProviderTesting
import Testing

/// The parts of ProviderKit for providers' calls: secrets, words, failures, the client and its tokens.
struct ServiceCallsTests {
    struct Refusal: ServiceRefusal {
        let code: String
        func providerError(_ unknown: ProviderError) -> ProviderError {
            code == "open" ? unknown : .rejected(reason: code)
        }
    }

    typealias Failure = ServiceFailure<Refusal>

    private static func context(_ http: any HTTPTransport, _ clock: ManualClock = ManualClock()) -> ProviderContext {
        ProviderContext(
            http: http, time: clock.time, random: SeededRandom().source, book: InMemoryBook(), notifyURL: "",
            publicURL: "https://pay.example")
    }

    @Test func `a secret is shown by nothing`() {
        let secret = ProviderSecret("swordfish")
        var dumped = ""
        dump(["key": secret], to: &dumped)
        let shown = ["\(secret)", String(reflecting: secret), "\([secret])", dumped].joined()
        #expect(!shown.contains("sword") && secret.value == "swordfish")
    }

    @Test(
        arguments: [
            ("CARD_DECLINED-2", true), (String(repeating: "a", count: 64), true), (nil, false), ("", false),
            (String(repeating: "a", count: 65), false), ("a.b", false), ("a/b", false), ("a b", false), ("a\n", false),
            ("é", false), ("..", false),
        ] as [(String?, Bool)])
    func `a word leads nowhere else`(_ text: String?, _ isGood: Bool) {
        #expect(ServiceText.word(text) == (isGood ? text : nil))
    }

    @Test func `a word's limit and further characters are the caller's`() {
        #expect(ServiceText.word("a.b", further: ".") == "a.b" && ServiceText.word("a-b", further: ".") == nil)
        #expect(ServiceText.word("abcd", limit: 3) == nil)
    }

    @Test(
        arguments: [
            (.notSent, .unavailable, .unavailable), (.unanswered, .outcomeUnknown, .unavailable),
            (.unsayable("bad_amount"), .unproven(.badMoney), .unproven(.badMoney)),
            (.unsayable("odd"), .outcomeUnknown, .unavailable),
            (.foreign, .unproven(.otherPayment), .unproven(.otherPayment)),
            (.refused(Refusal(code: "open")), .outcomeUnknown, .unavailable),
            (.refused(Refusal(code: "no")), .rejected(reason: "no"), .rejected(reason: "no")),
        ] as [(ServiceFailure<Refusal>, ProviderError, ProviderError)])
    func `a failure after a change and after a question`(
        _ failure: Failure, _ change: ProviderError, _ question: ProviderError
    ) {
        #expect(failure.providerError(afterChange: true) == change)
        #expect(failure.providerError(afterChange: false) == question)
    }

    /// Calls a service three times that answers so of each call's token, and of the token endpoint.
    private func calls(_ thing: Int, token: IncomingReply) async -> (endings: [Result<Int, Failure>], calls: [String]) {
        let transport = RecordingTransport { request throws(HTTPTransportError) in
            request.url.hasSuffix("/token") ? token : IncomingReply(status: thing)
        }
        let context = Self.context(transport)
        let client = OAuthClient(
            ServiceClient<Refusal>("test", context: context), tokenURL: "https://api.example/token", clientID: "id",
            secret: ProviderSecret("secret"), context: context)
        var endings: [Result<Int, Failure>] = []
        for _ in 0..<3 {
            do throws(Failure) {
                let request = OutgoingRequest(method: "GET", url: "https://api.example/thing")
                endings.append(.success(try await client.send(request, call: "GET thing") { _, _ in }.status))
            } catch {
                endings.append(.failure(error))
            }
        }
        return (endings, transport.requests.map { String($0.url.split(separator: "/").last ?? "") })
    }

    private static let token = IncomingReply(
        status: 200, body: Data(#"{"access_token":"abc","expires_in":600}"#.utf8))

    @Test func `a token is kept, and one that is not taken is renewed once in each call`() async {
        let good = await calls(200, token: Self.token)
        #expect(good.endings == [.success(200), .success(200), .success(200)])
        #expect(good.calls == ["token", "thing", "thing", "thing"])
        let refused = await calls(401, token: Self.token)
        #expect(refused.endings == [.success(401), .success(401), .success(401)])
        #expect(refused.calls.count { $0 == "token" } == 6 && refused.calls.count { $0 == "thing" } == 6)
    }

    @Test(
        arguments: [
            IncomingReply(status: 401, body: Data(#"{"error":"invalid_client"}"#.utf8)), IncomingReply(status: 200),
            IncomingReply(status: 200, body: Data(#"{"access_token":"","expires_in":600}"#.utf8)),
            IncomingReply(status: 200, body: Data(#"{"access_token":"a b","expires_in":600}"#.utf8)),
        ])
    func `without a token nothing is sent`(_ token: IncomingReply) async {
        let (endings, calls) = await calls(200, token: token)
        #expect(endings.allSatisfy { $0 == .failure(.notSent) } && !calls.contains("thing"))
    }
}
