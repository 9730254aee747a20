import ArgumentParser
import Hummingbird

/// The framework alone: one route with an empty answer, on as many threads as the server under test has.
struct EmptyServer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "empty", abstract: "Runs a server with empty answers, to compare with reads.")

    @Option(help: "The port to listen on, at 127.0.0.1.") var port: Int

    func run() async throws {
        let router = Router()
        router.get("/") { _, _ in HTTPResponse.Status.ok }
        let application = Application(
            router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)))
        try await application.runService()
    }
}
