import AlipayProvider
import AppleIAPProvider
import ApplePayProvider
import EPayProvider
import PayPalProvider
public import ProviderKit
import RemoteProvider
import SandboxProvider
import StripeProvider
import WeChatPayProvider

/// The kinds of provider that Paydesk brings along, for its own binary and for others' that add theirs.
///
/// "Writing a provider" ends with the list of what else a further kind changes.
public enum PaydeskProviders {
    public static let all: [any PaymentProvider.Type] = [
        AlipayProvider.self, AppleIAPProvider.self, ApplePayProvider.self, EPayProvider.self, PayPalProvider.self,
        RemoteProvider.self, SandboxProvider.self, StripeProvider.self, WeChatPayProvider.self,
    ]
}
