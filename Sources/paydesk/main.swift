import AppleIAPProvider
import PaydeskServer
import SandboxProvider
import StripeProvider

await PaydeskServer.run(providers: [AppleIAPProvider.self, SandboxProvider.self, StripeProvider.self])
