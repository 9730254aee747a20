import ArgumentParser
import Domain
import Foundation
import Gateway
import Logging
import Store

/// `paydesk catalog`.
struct Catalog: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Moves the catalogue in and out.", subcommands: [Import.self, Export.self])

    struct Import: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Merges a YAML file: new SKUs are added, known ones replaced, none removed.")

        @OptionGroup var common: CommonOptions
        @Argument(help: "A file like Config/catalog.yaml.") var file: String

        func run() async throws {
            let configuration = try Configuration.load(common.config, providers: CommandLineTool.providers)
            guard let text = try? String(contentsOfFile: file, encoding: .utf8) else {
                throw CommandError.usage("paydesk: \(file) cannot be read")
            }
            let skus: [SKU]
            do throws(ConfigurationError) { skus = try CatalogFile.parse(text, file: file) } catch {
                throw CommandError.usage("\(error)")
            }
            let command = AdminCommand.importCatalogue(skus)
            guard
                case .imported(let result) = try await command.perform(
                    configuration, providers: CommandLineTool.providers)
            else { return }
            print("\(result.added) added, \(result.changed) changed.")
        }
    }

    struct Export: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Prints the catalogue as YAML.")

        @OptionGroup var common: CommonOptions

        func run() async throws {
            let configuration = try Configuration.load(common.config, providers: CommandLineTool.providers)
            let store = try await configuration.openReadOnly()
            do {
                let gateway = try Composition(
                    configuration, store: store, providers: CommandLineTool.providers, transport: NoTransport(),
                    logger: Logger(label: "paydesk") { _ in SwiftLogNoOpLogHandler() }
                ).gateway
                let skus = try await gateway.exportCatalogue()
                await store.engine.close()
                print(try CatalogFile.render(skus), terminator: "")
            } catch {
                throw CommandError.store(error)
            }
        }
    }
}
