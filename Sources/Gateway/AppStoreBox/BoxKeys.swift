package import AppStoreBox
package import Domain
import FoundationEssentials
package import Store

/// The certificates and keys of the App Store in a box, sealed in the database that its nodes share.
package struct BoxKeys: Sendable {
    /// The context to which the sealed keys are bound.
    private static let context = "box_meta.authority/box"

    let store: Store
    let keyRing: KeyRing
    let time: TimeSource
    let random: RandomSource

    package init(store: Store, keyRing: KeyRing, time: TimeSource, random: RandomSource) {
        self.store = store
        self.keyRing = keyRing
        self.time = time
        self.random = random
    }

    /// Opens the box's keys, and makes them at the first start.
    ///
    /// - Throws: ``KeyRingError`` where the key that sealed them is missing; ``BoxAuthorityError``; ``StoreError``.
    package func load() async throws -> BoxAuthority {
        if let known = try await store.read({ db in try db.box.findMeta() }) { return try open(known) }
        let made = try BoxAuthority(at: time.now, random: random)
        let sealed = try keyRing.seal(Data(try made.encoded()), context: Self.context)
        let row = BoxMetaRow(authority: sealed, data: "{}")
        // Two nodes that start together both take the keys of the first.
        let stored = try await store.write { tx in
            try tx.box.insert(row)
            return try tx.box.findMeta()
        }
        guard let stored else { throw StoreError.corrupt("the keys of the box were not kept") }
        return try open(stored)
    }

    private func open(_ row: BoxMetaRow) throws -> BoxAuthority {
        try BoxAuthority(encoded: Array(try keyRing.open(row.authority, context: Self.context)))
    }
}
