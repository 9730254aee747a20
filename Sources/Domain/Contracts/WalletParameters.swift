/// The parameters with which an app starts WeChat's own: the members of `PayReq`, signed.
///
/// WeChat's SDKs spell them in camel case (`partnerId`, `prepayId`, `nonceStr`, `timeStamp`); `package` is
/// `packageValue` on Android, and `timeStamp` is a `UInt32` on iOS.
public struct WeChatAppParameters: Hashable, Sendable, Codable {
    public let appid: String
    public let partnerid: String
    public let prepayid: String
    public let package: String
    public let noncestr: String
    public let timestamp: String
    public let sign: String

    public init(
        appid: String, partnerid: String, prepayid: String, package: String, noncestr: String, timestamp: String,
        sign: String
    ) {
        self.appid = appid
        self.partnerid = partnerid
        self.prepayid = prepayid
        self.package = package
        self.noncestr = noncestr
        self.timestamp = timestamp
        self.sign = sign
    }
}

/// The parameters of `getBrandWCPayRequest` inside WeChat, and of `wx.requestPayment` in its mini programs, signed.
public struct WeChatJSAPIParameters: Hashable, Sendable, Codable {
    public let appId: String
    public let timeStamp: String
    public let nonceStr: String
    public let package: String
    public let signType: String
    public let paySign: String

    public init(
        appId: String, timeStamp: String, nonceStr: String, package: String, signType: String, paySign: String
    ) {
        self.appId = appId
        self.timeStamp = timeStamp
        self.nonceStr = nonceStr
        self.package = package
        self.signType = signType
        self.paySign = paySign
    }
}

extension PaymentInstruction {
    /// The seconds for which WeChat takes a prepay id (pay.weixin.qq.com/doc/v3/merchant/4013070347).
    package static let prepayLife: Int64 = 7_200

    /// The real time from which a wallet refuses the instruction; nil where only the order's end counts.
    package var expiresAt: Timestamp? {
        let made: String
        switch self {
        case .wechatApp(let parameters): made = parameters.timestamp
        case .wechatJSAPI(let parameters): made = parameters.timeStamp
        case .appleIAP, .stripe, .url, .qr, .applePay, .alipayApp, .none: return nil
        }
        return Int64(made).map { Timestamp($0).adding(seconds: Self.prepayLife) }
    }
}
