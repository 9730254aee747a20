import AppleIAPProvider
import ApplePayProvider
import PaydeskServer
import SandboxProvider
import StripeProvider

await PaydeskServer.run(providers: [
    AppleIAPProvider.self, ApplePayProvider.self, SandboxProvider.self, StripeProvider.self,
])
