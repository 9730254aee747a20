/// The request that Alipay's library sends.
struct AlipayAppPayment: Decodable {
    let orderString: String

    enum CodingKeys: String, CodingKey {
        case orderString = "order_string"
    }
}

/// The members of the `PayReq` of WeChat's library, which the server has signed.
public struct WeChatAppPayment: Sendable, Equatable, Decodable {
    /// The id under which the app is registered at WeChat's library.
    public let appID: String
    /// `PayReq.partnerId`.
    public let partnerID: String
    /// `PayReq.prepayId`.
    public let prepayID: String
    /// `PayReq.package`.
    public let package: String
    /// `PayReq.nonceStr`.
    public let nonce: String
    /// `PayReq.timeStamp`: seconds since 1970.
    public let timestamp: UInt32
    /// `PayReq.sign`.
    public let sign: String

    enum CodingKeys: String, CodingKey {
        case package, timestamp, sign
        case appID = "appid"
        case partnerID = "partnerid"
        case prepayID = "prepayid"
        case nonce = "noncestr"
    }

    init(
        appID: String, partnerID: String, prepayID: String, package: String, nonce: String, timestamp: UInt32,
        sign: String
    ) {
        self.appID = appID
        self.partnerID = partnerID
        self.prepayID = prepayID
        self.package = package
        self.nonce = nonce
        self.timestamp = timestamp
        self.sign = sign
    }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        let seconds = try members.decode(String.self, forKey: .timestamp)
        guard let timestamp = UInt32(seconds) else {
            throw DecodingError.dataCorruptedError(
                forKey: .timestamp, in: members, debugDescription: "must be seconds since 1970")
        }
        self.init(
            appID: try members.decode(String.self, forKey: .appID),
            partnerID: try members.decode(String.self, forKey: .partnerID),
            prepayID: try members.decode(String.self, forKey: .prepayID),
            package: try members.decode(String.self, forKey: .package),
            nonce: try members.decode(String.self, forKey: .nonce), timestamp: timestamp,
            sign: try members.decode(String.self, forKey: .sign))
    }
}

/// The members that WeChat's bridge takes, spelt as it takes them.
public struct WeChatPagePayment: Sendable, Equatable, Codable {
    public let appId: String
    public let timeStamp: String
    public let nonceStr: String
    /// `prepay_id=` and the id.
    public let package: String
    public let signType: String
    public let paySign: String
}
