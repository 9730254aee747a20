extension Migrations {
    /// The index of a SKU's orders, in the order in which the console's filters narrow them.
    static let ordersBySKU = """
        DROP INDEX orders_by_sku;
        CREATE INDEX orders_by_sku ON orders (sku, environment, platform, id);
        """
}
