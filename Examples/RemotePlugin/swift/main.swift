import Foundation
import Hummingbird
import Logging

// usage: PLUGIN_SECRETS=whsec_…[,whsec_…] remote-plugin-example PORT [--rehearsal]
let arguments = CommandLine.arguments.dropFirst()
let environment = ProcessInfo.processInfo.environment
guard let port = arguments.first.flatMap(Int.init), let secrets = Secrets(environment["PLUGIN_SECRETS"] ?? "") else {
    FileHandle.standardError.write(
        Data("usage: PLUGIN_SECRETS=whsec_…[,whsec_…] remote-plugin-example PORT [--rehearsal]\n".utf8))
    exit(2)
}
let plugin = Plugin(
    bank: Bank(base: environment["PLUGIN_URL"] ?? "http://127.0.0.1:\(port)"), secrets: secrets,
    rehearses: arguments.contains("--rehearsal"))
var logger = Logger(label: "plugin")
logger.logLevel = .warning
let application = Application(
    router: plugin.router(), configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)),
    onServerRunning: { _ in FileHandle.standardOutput.write(Data("ready\n".utf8)) }, logger: logger)
try await application.runService()
