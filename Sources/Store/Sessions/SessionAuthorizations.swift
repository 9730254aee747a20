package import Domain
package import FoundationEssentials

// The step in which WeChat names the payer of a session.
extension SessionQueries {
    /// Finds the sealed openid of a session's payer.
    package func findOpenID(of session: ID<Session>) throws(StoreError) -> Data? {
        try db.row("SELECT wechat_openid FROM sessions WHERE id = ?", session)?.optionalBlob("wechat_openid")
    }
}

extension SessionQueries where Connection == any Transaction {
    /// Stores that the payer is sent to WeChat.
    ///
    /// - Parameters:
    ///   - account: the account through which WeChat is asked.
    ///   - digest: of the state that comes back with the answer.
    /// - Returns: false where the payer was sent before.
    package func askForAuthorization(
        _ session: ID<Session>, at account: AccountID, digest: Data, until end: Timestamp
    ) throws(StoreError) -> Bool {
        try tx.execute(
            """
            UPDATE sessions SET wechat_account = ?, wechat_state = ?, wechat_state_until = ?
            WHERE id = ? AND wechat_account IS NULL
            """, account, digest, end, session) == 1
    }

    /// Uses up the state of an answer.
    ///
    /// - Returns: the account through which WeChat was asked; nil where the session has no such state any more.
    package func takeAuthorization(
        _ session: ID<Session>, digest: Data, at now: Timestamp
    ) throws(StoreError) -> AccountID? {
        let taken = try tx.execute(
            """
            UPDATE sessions SET wechat_state = NULL WHERE id = ? AND wechat_state = ? AND wechat_state_until > ?
            """, session, digest, now)
        guard taken == 1 else { return nil }
        return try tx.row("SELECT wechat_account FROM sessions WHERE id = ?", session)?.account("wechat_account")
    }

    /// Stores the payer's openid.
    package func setPayer(_ sealed: Data, appID: String, of session: ID<Session>) throws(StoreError) {
        try tx.execute(
            "UPDATE sessions SET wechat_app_id = ?, wechat_openid = ? WHERE id = ? AND ended_at IS NULL", appID, sealed,
            session)
    }
}
