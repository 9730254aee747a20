import ArgumentParser
import Hummingbird

/// The framework alone: one route with an empty answer, on as many threads as the server under test has.
struct EmptyServer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "empty", abstract: "Serves an empty answer: what status reads are compared with.")

    @Option(help: "The port of 127.0.0.1.") var port: Int

    func run() async throws {
        let router = Router()
        router.get("/") { _, _ in HTTPResponse.Status.ok }
        let application = Application(
            router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)))
        try await application.runService()
    }
}
