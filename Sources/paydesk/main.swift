import AppleIAPProvider
import PaydeskServer
import SandboxProvider

await PaydeskServer.run(providers: [AppleIAPProvider.self, SandboxProvider.self])
