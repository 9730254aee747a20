import AlipayProvider
import AppleIAPProvider
import ApplePayProvider
import EPayProvider
import PayPalProvider
import PaydeskServer
import SandboxProvider
import StripeProvider
import WeChatPayProvider

await PaydeskServer.run(providers: [
    AlipayProvider.self, AppleIAPProvider.self, ApplePayProvider.self, EPayProvider.self, PayPalProvider.self,
    SandboxProvider.self, StripeProvider.self, WeChatPayProvider.self,
])
