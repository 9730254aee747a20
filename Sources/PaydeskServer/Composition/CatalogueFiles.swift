import Domain
import Foundation
import Gateway
import HTTPAPI

extension CatalogueFiles {
    /// The readers and writers of `paydesk catalog`, for the admin API.
    static func commands(defaultCurrency: Currency) -> CatalogueFiles {
        CatalogueFiles(
            readYAML: { text in
                do throws(ConfigurationError) { return try CatalogFile.parse(text, file: "the file") } catch {
                    throw Fault(error)
                }
            },
            writeYAML: { try CatalogFile.render($0) },
            readStoreKit: { data, options in
                var given = StoreKitImportOptions()
                (given.currency, given.bundle) = (options.currency, options.bundle)
                (given.tier, given.days, given.units) = (options.tiers, options.days, options.units)
                do { return try given.request(data, name: "the file", fallback: defaultCurrency).file } catch let error
                    as ConfigurationError
                {
                    throw Fault(error)
                } catch let error as CommandError {
                    throw Fault(error)
                }
            },
            writeStoreKit: { skus, currency in
                guard let storefront = Storefront(selling: currency ?? defaultCurrency) else {
                    throw Fault(field: "currency", problem: "no storefront sells in it")
                }
                return try StoreKitFile.render(skus, storefront: storefront, bundle: nil).text
            })
    }
}

extension CatalogueFiles.Fault {
    fileprivate init(_ error: ConfigurationError) {
        let fault = error.faults.first
        let option = fault.map { $0.file.hasPrefix("--") ? String($0.file.dropFirst(2)) : $0.key } ?? ""
        self.init(field: option, problem: fault.map { "\($0.problem); \($0.remedy)" } ?? "")
    }

    /// Names the option that an error of the command line is about: `paydesk: --tier: …`.
    fileprivate init(_ error: CommandError) {
        let parts = error.message.split(separator: ": ", maxSplits: 2).map(String.init)
        let isOption = parts.count == 3 && parts[1].hasPrefix("--")
        self.init(field: isOption ? String(parts[1].dropFirst(2)) : "", problem: isOption ? parts[2] : error.message)
    }
}
