import ArgumentParser
import Domain
import Foundation
import Gateway

/// The options of `catalog import` for a `.storekit` file.
struct StoreKitImportOptions: ParsableArguments {
    @Option(help: "For a .storekit file: the currency of its prices, instead of its storefront's.")
    var currency: String?
    @Option(help: "For a .storekit file: the bundle id of its app.")
    var bundle: String?
    @Option(
        help: """
            For a .storekit file: PRODUCT=TIER:RANK, the membership that a new product gives, or PRODUCT= for none. May be \
            repeated.
            """)
    var tier: [String] = []
    @Option(help: "For a .storekit file: PRODUCT=DAYS, the duration of a new pass. May be repeated.")
    var days: [String] = []
    @Option(help: "For a .storekit file: PRODUCT=NAME:NUMBER, the units of a new consumable. May be repeated.")
    var units: [String] = []

    var isEmpty: Bool { currency == nil && bundle == nil && tier.isEmpty && days.isEmpty && units.isEmpty }

    /// Merges a StoreKit configuration file and prints the result, a line for each SKU.
    ///
    /// - Throws: exit 2 with a line for each fault; then nothing was changed.
    func run(_ path: String, _ configuration: Configuration) async throws {
        let name = URL(fileURLWithPath: path).lastPathComponent
        let (request, contents): (StoreKitImport, StoreKitFile.Contents)
        do {
            (request, contents) = try self.request(
                try StoreKitFile.read(path), name: name, fallback: configuration.defaultCurrency)
        } catch let error as ConfigurationError {
            throw CommandError.usage("\(error)\npaydesk: nothing was changed")
        }
        let result = try await AdminCommand.importStoreKit(request).perform(
            configuration, providers: CommandLineTool.providers)
        guard case .importedStoreKit(let outcome) = result else { return }
        guard outcome.faults.isEmpty else {
            let faults = outcome.faults.map {
                ConfigurationFault(file: name, key: $0.path, problem: $0.problem, remedy: $0.remedy)
            }
            throw CommandError.usage("\(ConfigurationError(faults))\npaydesk: nothing was changed")
        }
        print("Prices are \(contents.currency): \(contents.reason).")
        for line in outcome.added { Self.show("added", line) }
        for line in outcome.changed { Self.show("changed", line) }
        for line in outcome.notes { Self.show("note", line) }
        print("\(outcome.added.count) added, \(outcome.changed.count) changed.")
    }

    /// Reads a StoreKit configuration file with these options.
    ///
    /// - Parameters:
    ///   - name: the file's name in faults.
    ///   - fallback: the currency where neither the options nor the file name one.
    /// - Throws: `ConfigurationError` for the file and its currency, `CommandError` for another option.
    func request(
        _ data: Data, name: String, fallback: Currency
    ) throws -> (file: StoreKitImport, contents: StoreKitFile.Contents) {
        let contents = try StoreKitFile.parse(data, file: name, currency: try parsedCurrency(), fallback: fallback)
        let file = StoreKitImport(
            products: contents.products, bundle: try parsedBundle(), tiers: try parsedTiers(contents),
            days: try parsedDays(contents), units: try parsedUnits(contents))
        return (file, contents)
    }

    /// Prints a word and a text as one line, whatever characters the text contains.
    private static func show(_ word: String, _ line: String) {
        print(word.padding(toLength: 8, withPad: " ", startingAt: 0) + line.shownOnOneLine)
    }

    // MARK: Options

    private func parsedCurrency() throws(ConfigurationError) -> Currency? {
        guard let currency else { return nil }
        guard let known = Currency(currency) else {
            throw ConfigurationError([
                ConfigurationFault(
                    file: "--currency", problem: "is not an ISO 4217 currency", remedy: "write one such as CNY")
            ])
        }
        return known
    }

    private func parsedBundle() throws(CommandError) -> String? {
        guard let bundle else { return nil }
        guard AppleProduct("\(bundle):x")?.bundle == bundle else {
            throw .usage("paydesk: --bundle: \(bundle) is not a bundle id")
        }
        return bundle
    }

    private func parsedTiers(
        _ contents: StoreKitFile.Contents
    ) throws(CommandError) -> [String: StoreKitImport.Tier] {
        var parsed: [String: StoreKitImport.Tier] = [:]
        for word in tier {
            let (product, value) = try Self.assignment("--tier", word, contents)
            let colon = value.lastIndex(of: ":") ?? value.startIndex
            let rank = value.isEmpty ? 0 : Int64(value[colon...].dropFirst())
            guard let rank, value.isEmpty || colon > value.startIndex,
                parsed.updateValue(.init(name: String(value[..<colon]), rank: rank), forKey: product) == nil
            else { throw .usage("paydesk: --tier: \(word) is not PRODUCT=TIER:RANK or PRODUCT=, once a product") }
        }
        return parsed
    }

    private func parsedDays(_ contents: StoreKitFile.Contents) throws(CommandError) -> [String: Int64] {
        var parsed: [String: Int64] = [:]
        for word in days {
            let (product, value) = try Self.assignment("--days", word, contents)
            guard let days = Int64(value), AppleProduct.dayRange.contains(days),
                parsed.updateValue(days, forKey: product) == nil
            else { throw .usage("paydesk: --days: \(word) is not PRODUCT=DAYS, once a product, with 1 to 3660 days") }
        }
        return parsed
    }

    private func parsedUnits(_ contents: StoreKitFile.Contents) throws(CommandError) -> [String: [String: Int64]] {
        var parsed: [String: [String: Int64]] = [:]
        for word in units {
            let (product, value) = try Self.assignment("--units", word, contents)
            let parts = value.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, SKUCode(parts[0]) != nil, let number = Int64(parts[1]), number > 0,
                parsed[product, default: [:]].updateValue(number, forKey: parts[0]) == nil
            else {
                throw .usage("paydesk: --units: \(word) is not PRODUCT=NAME:NUMBER, as in com.example.coins=coins:100")
            }
        }
        return parsed
    }

    private static func assignment(
        _ option: String, _ word: String, _ contents: StoreKitFile.Contents
    ) throws(CommandError) -> (product: String, value: String) {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2 else { throw .usage("paydesk: \(option): \(word) has no =") }
        guard contents.products.contains(where: { $0.productID == parts[0] }) else {
            throw .usage("paydesk: \(option): \(parts[0]) is no product of the file")
        }
        return (parts[0], parts[1])
    }
}

/// The options of `catalog export` for Xcode.
struct StoreKitExportOptions: ParsableArguments {
    @Flag(help: "Prints a StoreKit configuration file for Xcode instead of YAML.")
    var storekit = false
    @Option(
        help: """
            With --storekit: the storefront, such as USA, in whose currency the prices are. Default: one with the configured \
            default_currency.
            """)
    var storefront: String?
    @Option(help: "With --storekit: the bundle id of the app whose products are printed.")
    var bundle: String?

    /// Checks the options before the database is opened.
    ///
    /// - Returns: nil for YAML.
    func parsed(_ configuration: Configuration) throws(CommandError) -> Storefront? {
        guard storekit else {
            guard storefront == nil, bundle == nil else {
                throw .usage("paydesk: --storefront and --bundle need --storekit")
            }
            return nil
        }
        guard let storefront else {
            guard let found = Storefront(selling: configuration.defaultCurrency) else {
                throw .usage(
                    "paydesk: no storefront sells in \(configuration.defaultCurrency); name one: --storefront USA")
            }
            return found
        }
        guard let found = Storefront(storefront) else {
            let known = Storefront.common.map(\.code).joined(separator: " ")
            throw .usage("paydesk: --storefront: \(storefront) is not one of \(known)")
        }
        return found
    }

    func show(_ skus: [SKU], _ storefront: Storefront) throws {
        let bundles = StoreKitFile.bundles(of: skus)
        guard bundle != nil || bundles.count < 2 else {
            throw CommandError.usage(
                "paydesk: the catalogue has products of several apps; say --bundle with one of "
                    + bundles.joined(separator: ", "))
        }
        let rendering = try StoreKitFile.render(skus, storefront: storefront, bundle: bundle)
        for note in rendering.notes { FileHandle.standardError.write(Data("paydesk: \(note)\n".utf8)) }
        print(rendering.text, terminator: "")
    }
}
