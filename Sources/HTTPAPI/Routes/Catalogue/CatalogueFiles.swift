package import Domain
package import Foundation
package import Gateway

/// The files in which a catalogue comes and goes; the readers and writers are the commands'.
package struct CatalogueFiles: Sendable {
    /// The parameters of a StoreKit import, each as it was sent.
    package struct StoreKitOptions: Sendable {
        package let currency: String?
        package let bundle: String?
        package let tiers: [String]
        package let days: [String]
        package let units: [String]
    }

    /// A fault of a file or a parameter: its place and what is wrong.
    package struct Fault: Error, Sendable {
        package let field: String
        package let problem: String

        package init(field: String, problem: String) {
            self.field = field
            self.problem = problem
        }
    }

    package let readYAML: @Sendable (String) throws -> [SKU]
    package let writeYAML: @Sendable ([SKU]) throws -> String
    package let readStoreKit: @Sendable (Data, StoreKitOptions) throws -> StoreKitImport
    /// - Parameter currency: nil for the configured one.
    package let writeStoreKit: @Sendable ([SKU], _ currency: Currency?) throws -> String

    package init(
        readYAML: @escaping @Sendable (String) throws -> [SKU], writeYAML: @escaping @Sendable ([SKU]) throws -> String,
        readStoreKit: @escaping @Sendable (Data, StoreKitOptions) throws -> StoreKitImport,
        writeStoreKit: @escaping @Sendable ([SKU], _ currency: Currency?) throws -> String
    ) {
        self.readYAML = readYAML
        self.writeYAML = writeYAML
        self.readStoreKit = readStoreKit
        self.writeStoreKit = writeStoreKit
    }
}
