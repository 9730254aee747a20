import Foundation
import TestSupport
import Testing

@Suite("The commands for StoreKit configuration files")
struct StoreKitCommandTests {
    private static let file = """
        {"settings": {"_storefront": "CHN", "_locale": "zh_CN"}, "products": [
          {"productID": "com.example.ring", "type": "NonConsumable", "displayPrice": "12", "referenceName": "Ring"},
          {"productID": "com.example.gems", "type": "Consumable", "displayPrice": "6", "referenceName": "Gems"}],
         "nonRenewingSubscriptions": [{"productID": "com.example.month", "displayPrice": "41.9",
          "localizations": [{"displayName": "月度会员", "description": "", "locale": "zh_CN"}]}]}
        """

    @Test
    func `a file is merged while the server runs, comes back unchanged, and a fault changes nothing`() async throws {
        let installation = try Installation()
        try installation.folder.write("Products.storekit", Self.file)
        try await installation.whileServing { _ in
            let refused = try await installation.run("catalog", "import", "Products.storekit")
            #expect(refused.status == 2 && refused.output.isEmpty)
            #expect(
                refused.errors.hasPrefix("Products.storekit: products[1]: is a new consumable"), "\(refused.errors)")
            #expect(refused.errors.contains("--units com.example.gems=coins:100"))
            #expect(refused.errors.hasSuffix("paydesk: nothing was changed\n"))
            #expect(try await !installation.run("catalog", "export").output.contains("com.example.ring"))
            let done = try await installation.run(
                "catalog", "import", "Products.storekit", "--units", "com.example.gems=gems:60", "--units",
                "com.example.gems=coins:1")
            #expect(
                done.output == """
                    Prices are CNY: the currency of the file's storefront CHN.
                    added   com.example.ring: non_consumable, 12.00 CNY, Ring
                    added   com.example.gems: consumable, 6.00 CNY, Gems
                    changed vip_month: price 39.90 CNY → 41.90 CNY; name VIP monthly → 月度会员
                    2 added, 1 changed.

                    """, "\(done.errors)")
            let export = try await installation.run("catalog", "export", "--storekit")
            #expect(export.status == 0 && export.errors.isEmpty, "\(export.errors)")
            try installation.folder.write("Back.STOREKIT", export.output)
            let back = try await installation.run("catalog", "import", "Back.STOREKIT")
            #expect(back.output.hasSuffix("storefront CHN.\n0 added, 0 changed.\n"), "\(back.output) \(back.errors)")
        }
        let yaml = try await installation.run("catalog", "export").output
        #expect(yaml.contains("units: {coins: 1, gems: 60}") && yaml.contains("tier: VIP"))
        let usa = try await installation.run("catalog", "export", "--storekit", "--storefront", "USA")
        #expect(usa.status == 0 && usa.errors.contains("vip_month: com.example.month has no price in USD"))
    }

    @Test
    func `wrong usage ends with 2 and changes nothing`() async throws {
        let installation = try Installation()
        #expect(try await installation.run("migrate").status == 0)
        try installation.folder.write("P.storekit", Self.file)
        try installation.folder.write("cut.storekit", String(Self.file.prefix(100)))
        try installation.folder.write("c.yaml", "skus: []")
        for (arguments, says) in [
            (["import", "missing.storekit"], "cannot be read"),
            (["import", "cut.storekit"], "cut.storekit: is not valid"),
            (["import", "P.storekit", "--currency", "RMB"], "ISO 4217"),
            (
                ["import", "P.storekit", "--currency", "JPY"],
                "nonRenewingSubscriptions[0].displayPrice: is not a price"
            ),
            (["import", "P.storekit", "--bundle", "a b"], "--bundle"),
            (["import", "P.storekit", "--days", "com.example.ring"], "has no ="),
            (["import", "P.storekit", "--days", "x=1"], "no product of the file"),
            (["import", "P.storekit", "--days", "com.example.month=0"], "1 to 3660"),
            (["import", "P.storekit", "--tier", "com.example.month=VIP"], "TIER:RANK"),
            (["import", "P.storekit", "--tier", "com.example.month=:1"], "TIER:RANK"),
            (["import", "P.storekit", "--tier", "com.example.month=", "--tier", "com.example.month=V:1"], "TIER:RANK"),
            (["import", "P.storekit", "--units", "com.example.gems=Gems:1"], "NAME:NUMBER"),
            (["import", "P.storekit", "--units", "com.example.gems=gems"], "NAME:NUMBER"),
            (["import", "c.yaml", "--days", "a=1"], ".storekit files"),
            (["export", "--storefront", "USA"], "need --storekit"),
            (["export", "--storekit", "--storefront", "ATL"], "USA CHN"),
        ] {
            let ended = try await installation.command(["catalog"] + arguments)
            #expect(
                ended.status == 2 && ended.output.isEmpty && ended.errors.contains(says),
                "\(arguments): \(ended.errors)")
        }
        let doctor = try await installation.run("doctor", "--offline")
        #expect(doctor.status == 0 && !doctor.output.contains("warn"))
    }

    @Test
    func `the doctor names the products that purchases wait for, twenty at most`() async throws {
        let installation = try Installation()
        #expect(try await installation.run("migrate").status == 0)
        let database = installation.folder.path + "/var/paydesk.db"
        let rows = (10..<32).flatMap { number in
            (0..<(number == 31 ? 3 : 1)).map { copy in
                """
                ('Production', '\(number)-\(copy)', 'apple-iap', 'com.example.app', 'com.example.new\(number)',
                 '\(number)-\(copy)', '\(number)', 'Non-Consumable', 17672256\(number)000, 17672256\(number)000, 1, 0, 0, 0,
                 1767225600)
                """
            }
        }
        try await StoredFile.run(
            """
            INSERT INTO purchases (environment, key, account, bundle_id, product_id, transaction_id,
                original_transaction_id, kind, purchased_at, signed_at, quantity, is_renewal, is_upgraded,
                is_family_shared, received_at)
            VALUES \(rows.joined(separator: ", "))
            """, in: database)
        let doctor = try await installation.run("doctor", "--offline")
        #expect(doctor.status == 0, "\(doctor.output)")
        let lines = doctor.output.split(separator: "\n").filter { $0.hasPrefix("warn") }
        #expect(lines.count == 21)
        #expect(
            lines.first?.hasPrefix(
                "warn product com.example.new31: no SKU knows it, or not how long it lasts, so 3 kept purchases of "
                    + "com.example.app give nothing (the last of 2026-01-01); add it") == true, "\(lines.first ?? "")")
        #expect(lines.last == "warn products: and 2 more that no SKU knows")
        #expect(try await installation.run("doctor", "--offline", "--json").output.contains(#""warning":true"#))
        try installation.folder.write(
            "P.storekit",
            """
            {"products": [{"productID": "com.example.new31", "type": "NonConsumable", "displayPrice": "1"}]}
            """)
        let done = try await installation.run("catalog", "import", "P.storekit")
        #expect(
            done.output.hasPrefix("Prices are CNY: the configured default_currency, for the file names no storefront."))
        #expect(try await !installation.run("doctor", "--offline").output.contains("new31"))
    }
}
