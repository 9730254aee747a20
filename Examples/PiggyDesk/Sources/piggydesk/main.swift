import PaydeskProviders
import PaydeskServer
import PiggyProvider

// Paydesk with everything that it has, and a provider of our own.
await PaydeskServer.run(providers: PaydeskProviders.all + [PiggyProvider.self])
