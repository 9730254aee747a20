/// The files that `paydesk init --production` writes.
enum ProductionConfiguration {
    /// Paths in the folder, and texts.
    static let files: KeyValuePairs<String, String> = [
        "paydesk.yaml": settings, "catalog.yaml": catalogue, "providers/apple-iap.yaml": appStore,
        "providers/stripe-main.yaml": stripe, "environment.example": environment,
    ]

    private static let settings = """
        # Paydesk in production. A value that is ${NAME} comes from the environment (environment.example lists them all);
        # ${NAME:-default} has a default, and secrets may also be file:path. Relative paths are relative to this folder.
        # Every other setting has its default; docs/configuration.md has them all. `paydesk doctor` checks everything.

        mode: production                        # refuses every setting that is only for tests

        http:
          host: 0.0.0.0                         # 127.0.0.1 behind a proxy on the same machine
          port: 8080
          public_url: ${PAYDESK_PUBLIC_URL}     # https://pay.example.com: what users and providers reach
          # The chain as a PEM file and the key as file:path; both, or none behind a proxy that has the certificate
          tls: {certificate: "", private_key: ""}
          trusted_proxies: []                   # the proxies whose Forwarded / X-Forwarded-For is believed: ["10.0.0.0/8"]
          cors_origins: []                      # the web app's origins: [https://app.example.com]
          return_urls: []                       # where a checkout may return to: [https://app.example.com, "myapp:"]

        database:
          # postgres://user:password@host:5432/paydesk?sslmode=verify-full for several nodes;
          # sqlite:var/paydesk.db for one. On PostgreSQL run `paydesk migrate` before the first start
          url: ${PAYDESK_DATABASE_URL}

        secrets:
          # Base64 of 32 bytes: openssl rand -base64 32. Keep a copy elsewhere: what it encrypts is lost without it.
          # To change it, put the new one in front of the old, run `paydesk keys reseal`, remove the old
          keys: ["${PAYDESK_SECRET_KEY}"]

        auth:                                   # how your users' tokens are verified
          # Your login's public keys. Or a secret that it signs with, in the place of these three lines:
          # hs256_secrets: ["${PAYDESK_USER_SECRET}"]
          jwks_url: ${PAYDESK_JWKS_URL}         # https://login.example.com/.well-known/jwks.json
          issuer: ${PAYDESK_JWT_ISSUER}         # `iss` of your tokens
          audience: ${PAYDESK_JWT_AUDIENCE}     # `aud` of your tokens
          user_claim: sub                       # the claim that names the user

        default_currency: CNY

        orders:
          expire_after_minutes: 30
          late_payment: fulfil                  # a success after the order closed: fulfil, refund or hold
          duplicate_payment: refund             # a second success: refund or hold

        purchases:
          ownership: keep                       # a store purchase that a second user claims: keep, transfer,
                                                # transfer_if_inactive or share

        pages:                                  # what payers see on the cashier and the portal
          name: ${PAYDESK_MERCHANT_NAME:-}      # empty: the host of public_url
          support_url: ""                       # https or mailto
          terms_url: ""
          privacy_url: ""
          default_locale: en                    # or zh-Hans

        retention:
          raw_days: 90                          # raw notifications; their facts stay
          idempotency_days: 30

        # Quotas that the app counts here, by tier: "" is no tier, null is unlimited
        meters: []
        """ + "\n"

    private static let catalogue = """
        # What is sold. This file fills an empty database; later changes go through the console, the admin API or
        # `paydesk catalog import`. Amounts are minor units: 3990 CNY is 39.90 yuan. An example:
        #
        # skus:
        #   - {id: vip_month, name: VIP for a month, kind: non_renewing, tier: VIP, rank: 10, duration_days: 30,
        #      prices: [{currency: CNY, value: 3990}], apple_product_ids: [com.example.vip.month]}
        skus: []
        """ + "\n"

    private static let appStore = """
        # Purchases in the App Store. Remove this file where nothing is sold there.
        account: apple-iap
        kind: apple_iap
        enabled: true
        # openssl rand -hex 24. In App Store Connect, the address for Server Notifications V2 of both environments is
        # {public_url}/v1/notify/{this token}
        notify_token: ${APPLE_NOTIFY_TOKEN}
        routing: {platforms: [ios], priority: 100}
        settings:
          apps:
            # The number is the app's Apple ID, which Production's notifications need; the shared secret is for old receipts
            - {bundle_id: "${APPLE_BUNDLE_ID}", app_apple_id: "${APPLE_APP_ID}", shared_secret: "${APPLE_SHARED_SECRET:-}"}
          environments: [Production, Sandbox]   # Sandbox serves TestFlight and App Review
          sandbox: {entitles: all, users: [], max_hours: 24}
          # An In-App Purchase key of App Store Connect. The private key is file:path of the .p8
          api: {key_id: "${APPLE_KEY_ID}", issuer_id: "${APPLE_ISSUER_ID}", private_key: "${APPLE_PRIVATE_KEY}"}
        """ + "\n"

    private static let stripe = """
        # Cards and other payments through Stripe. Remove this file where another provider is used: docs/providers has a page
        # for PayPal, Alipay, WeChat Pay, EPay and plugins of your own.
        account: stripe-main
        kind: stripe
        enabled: true
        # openssl rand -hex 24. At Stripe, make a webhook endpoint {public_url}/v1/notify/{this token}; docs/providers/stripe.md
        # lists its events
        notify_token: ${STRIPE_NOTIFY_TOKEN}
        routing: {platforms: [web, android, desktop], priority: 50}
        settings:
          secret_key: ${STRIPE_SECRET_KEY}      # sk_live_… or a restricted key rk_live_…
          publishable_key: ${STRIPE_PUBLISHABLE_KEY}
          webhook_secrets: ["${STRIPE_WEBHOOK_SECRET}"]
          mode: payment_intent
        """ + "\n"

    private static let environment = """
        # The variables of these files, one a line, as systemd's EnvironmentFile and `docker run --env-file` read them.
        # Copy it to a file that only Paydesk's user can read, and fill it in.
        PAYDESK_PUBLIC_URL=https://pay.example.com
        PAYDESK_DATABASE_URL=postgres://paydesk@db.example.com:5432/paydesk?sslmode=verify-full
        PAYDESK_SECRET_KEY=
        PAYDESK_JWKS_URL=https://login.example.com/.well-known/jwks.json
        PAYDESK_JWT_ISSUER=
        PAYDESK_JWT_AUDIENCE=
        PAYDESK_MERCHANT_NAME=
        APPLE_NOTIFY_TOKEN=
        APPLE_BUNDLE_ID=
        APPLE_APP_ID=
        APPLE_SHARED_SECRET=
        APPLE_KEY_ID=
        APPLE_ISSUER_ID=
        APPLE_PRIVATE_KEY=file:/etc/paydesk/AuthKey.p8
        STRIPE_NOTIFY_TOKEN=
        STRIPE_SECRET_KEY=
        STRIPE_PUBLISHABLE_KEY=
        STRIPE_WEBHOOK_SECRET=
        """ + "\n"
}
