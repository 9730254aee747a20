import ArgumentParser
import Domain
import Foundation
import Gateway
import Logging
import Store

/// `paydesk catalog`.
struct Catalog: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Imports and exports the catalogue.", subcommands: [Import.self, Export.self])

    struct Import: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Merges a file into the catalogue: adds new SKUs, replaces known ones, removes none.",
            discussion: """
                From a .storekit file, a SKU that lists a product takes over the product's names and its price in the \
                storefront's currency; its other fields stay. Each other product becomes a new SKU with the product \
                id as its id. The options give the values of new SKUs that the file lacks; a missing one is an error, \
                and nothing is changed.
                """)

        @OptionGroup var common: CommonOptions
        @OptionGroup var storeKit: StoreKitImportOptions
        @Argument(help: "A YAML file like Config/catalog.yaml, or a StoreKit configuration file of Xcode (.storekit).")
        var file: String

        func run() async throws {
            let configuration = try Configuration.load(common.config, providers: CommandLineTool.providers)
            if file.lowercased().hasSuffix(StoreKitFile.suffix) { return try await storeKit.run(file, configuration) }
            guard storeKit.isEmpty else {
                throw CommandError.usage(
                    "paydesk: --currency, --bundle, --tier, --days and --units are for .storekit files")
            }
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
        static let configuration = CommandConfiguration(abstract: "Prints the catalogue, as YAML or for Xcode.")

        @OptionGroup var common: CommonOptions
        @OptionGroup var storeKit: StoreKitExportOptions

        func run() async throws {
            let configuration = try Configuration.load(common.config, providers: CommandLineTool.providers)
            let storefront = try storeKit.parsed(configuration)
            let store = try await configuration.openReadOnly()
            do {
                let gateway = try Composition(
                    configuration, store: store, providers: CommandLineTool.providers, transport: NoTransport(),
                    logger: Logger(label: "paydesk") { _ in SwiftLogNoOpLogHandler() }
                ).gateway
                let skus = try await gateway.catalogue.all()
                await store.engine.close()
                if let storefront { return try storeKit.show(skus, storefront) }
                print(try CatalogFile.render(skus), terminator: "")
            } catch {
                throw CommandError.store(error)
            }
        }
    }
}
