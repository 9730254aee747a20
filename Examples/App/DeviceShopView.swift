// Not compiled where it was written: there is no Xcode there. The SDK that it uses is tested on Linux, and its Apple
// parts are type-checked (make sdk). docs/ios.md says how to make a project of these files.

import PaydeskClient
import PaydeskStoreKit
import SwiftUI

/// A shop of things that are bought once: radio devices.
struct DeviceShopView: View {
    let services: Services
    @StateObject private var observed: Observed<ShopState>

    private var model: ShopModel<StoreKitStorefront> { services.shop }
    private var state: ShopState { observed.state }

    init(services: Services) {
        self.services = services
        _observed = StateObject(wrappedValue: Observed(services.shop.state, services.shop.updates))
    }

    var body: some View {
        NavigationView {
            List {
                if state.isLoading { ProgressView() }
                if state.canMakePayments {
                    ForEach(state.items) { item in
                        DeviceRow(item: item, isBusy: state.purchase == .inProgress) {
                            Task { await model.purchase(item.id) }
                        }
                    }
                }
                Text(state.purchase.text(.preferred)).font(.footnote)
                Button(words("Restore purchases", "恢复购买")) { Task { await model.restore() } }
                    .disabled(state.isRestoring)
            }
            .navigationTitle(words("Devices", "设备商店"))
            .alert(
                state.message ?? "",
                isPresented: Binding(get: { state.message != nil }, set: { _ in model.dismissMessage() })
            ) {}
            .task { await model.load() }
        }
    }
}

struct DeviceRow: View {
    let item: ShopItem
    let isBusy: Bool
    let buy: () -> Void

    var body: some View {
        HStack {
            VStack(alignment: .leading) {
                Text(item.product.name)
                // The range is an attribute of the SKU: the server says what a device does.
                if let range = item.sku.attributes["range_km"]?.integer {
                    Text(words("Range \(range) km", "通讯范围 \(range) km")).font(.footnote)
                }
            }
            Spacer()
            if item.isOwned {
                Label(words("Owned", "已拥有"), systemImage: "checkmark")
            } else {
                Button(item.product.displayPrice, action: buy).buttonStyle(.bordered).disabled(isBusy)
            }
        }
    }
}
