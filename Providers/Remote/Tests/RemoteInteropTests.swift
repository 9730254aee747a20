import Foundation
import TestSupport
import Testing

/// Tests a plugin with a client that is generated from the document, which signs and verifies with Standard Webhooks'
/// own library.
@Suite("A client made from the document agrees", .serialized, .timeLimit(.minutes(30)))
struct RemoteInteropTests {
    private let python = InteropPython(peer: "openapi-python-client and standardwebhooks")

    @Test(arguments: ExamplePlugin.Language.allCases)
    func `with an example plugin`(language: ExamplePlugin.Language) async throws {
        let plugin = try await ExamplePlugin.start(language)
        defer { plugin.stop() }
        let document = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "openapi.yaml").path
        let arguments = [document, plugin.url, ExamplePlugin.secret]
        let output = try await python.run("client.py", arguments)
        let words = output.split(whereSeparator: \.isWhitespace)
        #expect(words.first == "accepted" && (words.last.flatMap { Int($0) } ?? 0) >= 30, "\(output)")
        print("interop: a client made from openapi.yaml drove the plugin in \(language.rawValue): \(output)")
    }
}
