// Declarations of UIKit that PaydeskStoreKit uses.
@MainActor public class UIWindowScene {}
