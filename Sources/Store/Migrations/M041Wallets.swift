extension Migrations {
    /// Payers as wallets know them.
    ///
    /// `payments.wechat_openid` is sealed and stays until the payment is opened or final, so that a repeated opening
    /// says the same. A session's `wechat_account` is the account through which WeChat was asked once who its payer is;
    /// `wechat_state` is the digest of the question's state, which is taken once and until a time, and `wechat_openid`
    /// the sealed answer.
    static let walletPayers = """
        ALTER TABLE payments ADD COLUMN app_id {text};
        ALTER TABLE payments ADD COLUMN wechat_openid {blob};
        ALTER TABLE sessions ADD COLUMN wechat_account {text};
        ALTER TABLE sessions ADD COLUMN wechat_state {blob};
        ALTER TABLE sessions ADD COLUMN wechat_state_until {int};
        ALTER TABLE sessions ADD COLUMN wechat_app_id {text};
        ALTER TABLE sessions ADD COLUMN wechat_openid {blob};

        """
}
