import Store

/// Direct access to the file of an embedded database that no process serves.
package enum StoredFile {
    package static func run(_ sql: String, in file: String) async throws {
        let store = try TestDatabase.open(try DatabaseURL("sqlite:\(file)"), rehearse: false)
        let result: Result<Void, any Error>
        do {
            try await store.write { tx in _ = try tx.execute(sql) }
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await store.engine.close()
        try result.get()
    }
}
