import Logging
import Store

extension Gateway {
    /// Whether what was sealed last was sealed with a key that this node does not have.
    ///
    /// Such a node answers 500 to whoever asks for what another one, or it itself before, has sealed.
    package func lacksKey() async throws(GatewayError) -> Bool {
        try await read { db in try db.secrets.listNewest() }.contains { !keyRing.hasKey(of: $0) }
    }

    /// Says in the log when this node cannot open what was sealed last.
    package func warnOfMissingKey() async throws(GatewayError) {
        guard try await lacksKey() else { return }
        logger.error("secrets.keys lacks the key that sealed what is in the database: every node needs the same keys")
    }
}
