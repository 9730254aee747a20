import PaydeskProviders
import PaydeskServer

await PaydeskServer.run(providers: PaydeskProviders.all)
