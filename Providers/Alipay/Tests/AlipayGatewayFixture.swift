import AlipayProvider
import Domain
import Foundation
import Gateway
import ProviderKit
import ProviderTesting
import TestSupport

/// A whole gateway with one Alipay account.
struct AlipayGatewayFixture: ProviderGatewayFixture {
    static let account = "alipay-main"

    let desk: GatewayFixture
    let gateway: Gateway

    /// - Parameter http: the transport to Alipay or to the fake server.
    init(_ desk: GatewayFixture, http: any HTTPTransport, settings: [String: SettingValue] = [:]) throws {
        self.desk = desk
        let account = try desk.account(Self.account, http: http, platforms: [.web, .android]) {
            try AlipayProvider(account: AlipayFixture.account(settings), context: $0)
        }
        gateway = desk.gateway(with: [account])
    }
}
