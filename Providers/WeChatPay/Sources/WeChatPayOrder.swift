/// The body that makes an order (pay.weixin.qq.com/doc/v3/merchant/4012791877), in every mode.
struct WeChatPayOrder: Encodable {
    struct Amount: Encodable {
        /// Fen.
        let total: Int64
        let currency: String
    }
    struct Payer: Encodable { let openid: String }
    struct Scene: Encodable {
        struct Info: Encodable { let type = "Wap" }
        let payer_client_ip: String
        let h5_info = Info()
    }

    let mchid: String
    let appid: String
    let description: String
    let out_trade_no: String
    /// In RFC 3339.
    let time_expire: String
    let notify_url: String
    let amount: Amount
    /// For the mode h5 alone.
    var scene_info: Scene?
    /// For the mode jsapi alone.
    var payer: Payer?
}

/// The body that closes an order.
struct WeChatPayClosing: Encodable { let mchid: String }
