// Not compiled where it was written: there is no Xcode there. The SDK that it uses is tested on Linux, and its Apple
// parts are type-checked (make sdk). docs/ios.md says how to make a project of these files.

import PassKit
import SwiftUI

/// Apple's own button.
struct ApplePayButton: UIViewRepresentable {
    var type: PKPaymentButtonType = .buy
    var style: PKPaymentButtonStyle = .automatic
    let action: () -> Void

    func makeUIView(context: Context) -> PKPaymentButton {
        let button = PKPaymentButton(paymentButtonType: type, paymentButtonStyle: style)
        button.addTarget(context.coordinator, action: #selector(Coordinator.tapped), for: .touchUpInside)
        return button
    }

    func updateUIView(_ button: PKPaymentButton, context: Context) { context.coordinator.action = action }

    func makeCoordinator() -> Coordinator { Coordinator(action: action) }

    final class Coordinator: NSObject {
        var action: () -> Void

        init(action: @escaping () -> Void) { self.action = action }

        @objc func tapped() { action() }
    }
}
