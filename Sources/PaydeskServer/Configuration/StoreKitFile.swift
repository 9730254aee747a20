package import Domain
package import Foundation

/// Xcode's StoreKit configuration file: `catalog import Products.storekit` and `catalog export --storekit`.
///
/// The products, their prices and names, and the storefront, which gives the prices their currency, are read. Xcode's
/// other contents (offers, errors to simulate, keys, family sharing) have no place in a SKU and are ignored.
package enum StoreKitFile {
    package static let suffix = ".storekit"
    package static let sizeLimit = 1 << 20
    package static let productLimit = 10_000
    private static let depthLimit = 32

    /// The contents of a file.
    package struct Contents: Sendable, Equatable {
        package let products: [StoreKitProduct]
        package let currency: Currency
        /// The reason for this currency, as words after it.
        package let reason: String
    }

    /// Reads the bytes of a file, one more than may be read, so that a larger one is seen.
    package static func read(_ path: String) throws(ConfigurationError) -> Data {
        let handle = FileHandle(forReadingAtPath: path)
        guard let data = try? handle?.read(upToCount: sizeLimit + 1) else {
            throw ConfigurationError([
                ConfigurationFault(file: path, problem: "cannot be read", remedy: "check its path")
            ])
        }
        return data
    }

    /// Reads the contents of a file.
    ///
    /// - Parameters:
    ///   - file: the file's name in faults.
    ///   - currency: the currency of the prices, whatever the file says.
    ///   - fallback: their currency where the file names no storefront.
    /// - Throws: every fault with the path of its value, `subscriptionGroups[0].subscriptions[1].productID`.
    package static func parse(
        _ data: Data, file: String, currency: Currency?, fallback: Currency
    ) throws(ConfigurationError) -> Contents {
        func whole(_ problem: String, _ remedy: String) -> ConfigurationError {
            ConfigurationError([ConfigurationFault(file: file, problem: problem, remedy: remedy)])
        }
        guard data.count <= sizeLimit else { throw whole("is larger than 1 MiB", "export it from Xcode again") }
        guard depth(of: data) <= depthLimit else { throw whole("is nested too deeply", "export it from Xcode again") }
        // A zero byte means UTF-16 or UTF-32, whose brackets were not counted, or no JSON at all.
        guard !data.contains(0), let json = try? JSONDecoder().decode(JSONValue.self, from: data) else {
            throw whole("is not valid JSON", "save it in Xcode, as UTF-8 and without comments")
        }
        guard case .object(let root) = json, lists.contains(where: { root[$0] != nil }) else {
            throw whole("is no StoreKit configuration file", "give the file that Xcode's StoreKit editor saves")
        }
        var reader = StoreKitReader(file: file)
        let settings = reader.object(root["settings"], "settings")
        let (chosen, reason) = reader.currency(settings, given: currency, fallback: fallback)
        let locale = reader.optionalText(settings, "_locale", "settings") ?? ""
        let products = reader.products(root, currency: chosen, locale: locale)
        guard reader.faults.isEmpty else { throw ConfigurationError(reader.faults) }
        return Contents(products: products, currency: chosen, reason: reason)
    }

    private static let lists = ["products", "nonRenewingSubscriptions", "subscriptionGroups"]

    /// Returns the depth of nested brackets outside of strings, computed before a parser reads them.
    private static func depth(of data: Data) -> Int {
        var (depth, deepest, isText, isEscaped) = (0, 0, false, false)
        for byte in data {
            switch byte {
            case _ where isEscaped: isEscaped = false
            case 0x5C: isEscaped = isText
            case 0x22: isText.toggle()
            case 0x7B where !isText, 0x5B where !isText:
                depth += 1
                deepest = max(deepest, depth)
            case 0x7D where !isText, 0x5D where !isText: depth -= 1
            default: break
            }
        }
        return deepest
    }
}
