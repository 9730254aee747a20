import Domain
import Foundation
import Gateway
import HTTPTypes

/// Routes of the catalogue as a file: YAML, and Xcode's StoreKit configuration.
struct CatalogueFileRoutes {
    let gateway: Gateway
    let files: CatalogueFiles

    private enum Format: String, CaseIterable {
        case yaml, storekit
    }

    private static let bodyLimit = 2 << 20

    var routes: [Route] {
        [
            Route(
                "exportCatalogue", .get, "/v1/admin/catalog.yaml", .key([.admin, .adminRead]), .catalogue,
                "The catalogue as YAML", note: "As `paydesk catalog export` prints it.",
                answers: .other("application/yaml", "The file."), handle: exportYAML),
            Route(
                "exportCatalogueForXcode", .get, "/v1/admin/catalog.storekit", .key([.admin, .adminRead]), .catalogue,
                "The catalogue as a StoreKit configuration file of Xcode",
                query: [
                    .query("currency", .knownCurrency, "Of the prices; the configured one where it is left out.")
                ], answers: .other("application/json", "The file."), handle: exportStoreKit),
            Route(
                "importCatalogue", .post, "/v1/admin/catalog/import", .key([.admin]), .catalogue,
                "Merges a file into the catalogue",
                note: "Adds SKUs and replaces known ones; removes none. A fault refuses all of it.",
                query: [
                    .query("format", .words(Format.self), "Which file it is.", isRequired: true),
                    .query("currency", .knownCurrency, "Of a StoreKit file's prices, not its storefront's."),
                    .query("bundle", .string, "The app of a StoreKit file."),
                    .query("tier", .string, "`PRODUCT=TIER:RANK` of a new SKU, or `PRODUCT=`; may be repeated."),
                    .query("days", .string, "`PRODUCT=DAYS` of a new pass; may be repeated."),
                    .query("units", .string, "`PRODUCT=NAME:NUMBER` of a new consumable; may be repeated."),
                ] + Route.Query.dryRun, body: .other("The file, at most 2 MiB."), bodyLimit: Self.bodyLimit,
                answers: .data(
                    named("CatalogueImport", .object(["added": .integer, "changed": .integer]))),
                refuses: [.conflict], handle: importFile),
        ]
    }

    private func named(_ name: String, _ shape: Shape) -> Shape { .named(name, shape) }

    private func exportYAML(_ call: Call) async throws(GatewayError) -> Answer {
        let skus = try await gateway.catalogue.all()
        return file(try read { try files.writeYAML(skus) }, "application/yaml; charset=utf-8", "catalog.yaml")
    }

    private func exportStoreKit(_ call: Call) async throws(GatewayError) -> Answer {
        let currency = try call.currency("currency")
        let skus = try await gateway.catalogue.all()
        return file(
            try read { try files.writeStoreKit(skus, currency) }, "application/json; charset=utf-8",
            "Products.storekit")
    }

    private func file(_ text: String, _ type: String, _ name: String) -> Answer {
        .raw(
            status: .ok, contentType: type, body: Data(text.utf8),
            headers: [
                HTTPField(name: .contentDisposition, value: "attachment; filename=\"\(name)\""),
                HTTPField(name: .cacheControl, value: "no-store"),
            ])
    }

    private func importFile(_ call: Call) async throws(GatewayError) -> Answer {
        guard let format = try call.choice("format", Format.self) else {
            throw .invalidRequest(field: "format", reason: "is missing")
        }
        let isDry = try call.flag(Route.dryRun) == true
        let result: CatalogueImport
        switch format {
        case .yaml: result = try await importYAML(call, isDry: isDry)
        case .storekit: result = try await importStoreKit(call, isDry: isDry)
        }
        return try .json(result)
    }

    private func importYAML(_ call: Call, isDry: Bool) async throws(GatewayError) -> CatalogueImport {
        for name in ["currency", "bundle", "tier", "days", "units"] where call.query[name] != nil {
            throw .invalidRequest(field: name, reason: "is for a StoreKit file")
        }
        let skus = try read { try files.readYAML(String(decoding: call.body, as: UTF8.self)) }
        return isDry
            ? try await gateway.catalogue.tryMerging(skus, context: call.context)
            : try await gateway.catalogue.merge(skus, context: call.context)
    }

    private func importStoreKit(_ call: Call, isDry: Bool) async throws(GatewayError) -> CatalogueImport {
        let fields = FormDecoder.decode(call.queryText)
        func all(_ name: String) -> [String] { fields.filter { $0.0 == name }.map(\.1) }
        let options = CatalogueFiles.StoreKitOptions(
            currency: call.query["currency"], bundle: call.query["bundle"], tiers: all("tier"), days: all("days"),
            units: all("units"))
        let file = try read { try files.readStoreKit(call.body, options) }
        let outcome =
            isDry
            ? try await gateway.catalogue.tryImportingStoreKit(file, context: call.context)
            : try await gateway.catalogue.importStoreKit(file, context: call.context)
        if let fault = outcome.faults.first {
            throw .invalidRequest(
                field: fault.path, reason: LocalizedText(stringLiteral: "\(fault.problem); \(fault.remedy)"))
        }
        return CatalogueImport(added: outcome.added.count, changed: outcome.changed.count)
    }

    /// Runs a reader or writer, whose faults are refusals.
    private func read<T>(_ body: () throws -> T) throws(GatewayError) -> T {
        do { return try body() } catch let fault as CatalogueFiles.Fault {
            throw .invalidRequest(field: fault.field, reason: LocalizedText(stringLiteral: fault.problem))
        } catch {
            throw .internalError
        }
    }
}
