// Not compiled where it was written: there is no Xcode there. The SDK that it uses is tested on Linux, and its Apple
// parts are type-checked (make sdk). docs/ios.md says how to make a project of these files.

import PaydeskApplePay
import PaydeskClient
import PaydeskStoreKit
import SwiftUI

/// The membership page: benefits, the current membership, plans, pay buttons, and the entries for purchases made.
struct MembershipView: View {
    let services: Services
    @StateObject private var observed: Observed<MembershipState>
    @Environment(\.dismiss) private var dismiss

    private var model: MembershipModel<StoreKitStorefront> { services.membership }
    private var state: MembershipState { observed.state }

    init(services: Services) {
        self.services = services
        let model = services.membership
        _observed = StateObject(wrappedValue: Observed(model.state, model.updates))
    }

    var body: some View {
        NavigationView {
            ScrollView {
                VStack(spacing: 20) {
                    MembershipBenefitsView()
                    if let current = state.current { CurrentMembershipView(current: current) }
                    if state.shop.canMakePayments {
                        MembershipPlansView(state: state) { model.select($0) }
                        PaymentButtonsView(services: services, state: state)
                    } else {
                        Text(ClientFailure.store(.notAllowed).text(.preferred))
                    }
                    PurchaseHelpView(model: model, state: state)
                    Text(words("Subscriptions renew until you cancel them.", "订阅会自动续订，可随时取消。"))
                        .font(.caption).foregroundColor(.secondary)
                }
                .padding()
            }
            .navigationTitle(words("Membership", "会员订阅"))
            .toolbar { Button(words("Close", "关闭")) { dismiss() } }
            .alert(
                state.shop.message ?? "",
                isPresented: Binding(get: { state.shop.message != nil }, set: { _ in model.dismissMessage() })
            ) {}
            .task { await model.load() }
        }
    }
}

struct MembershipBenefitsView: View {
    var body: some View {
        VStack(alignment: .leading, spacing: 10) {
            Text(words("Benefits", "会员特权")).font(.title2.bold())
            BenefitRow(icon: "infinity", title: words("Unlimited use", "无限使用"))
            BenefitRow(icon: "brain", title: words("Newest models", "高级模型"))
            BenefitRow(icon: "photo", title: words("Images", "图片生成"))
            BenefitRow(icon: "doc", title: words("Files", "文件分析"))
        }
        .frame(maxWidth: .infinity, alignment: .leading)
    }
}

struct BenefitRow: View {
    let icon: String
    let title: String

    var body: some View { Label(title, systemImage: icon) }
}

struct CurrentMembershipView: View {
    let current: CurrentMembership

    var body: some View {
        Label(current.text(.preferred), systemImage: "checkmark.seal")
            .frame(maxWidth: .infinity, alignment: .leading)
    }
}

struct MembershipPlansView: View {
    let state: MembershipState
    let select: (String) -> Void

    var body: some View {
        VStack(alignment: .leading, spacing: 12) {
            Text(words("Choose a plan", "选择套餐")).font(.title3.bold())
            if state.shop.isLoading { ProgressView().frame(maxWidth: .infinity) }
            ForEach(state.shop.items) { item in
                Button {
                    select(item.id)
                } label: {
                    HStack {
                        Image(systemName: state.selected == item.id ? "largecircle.fill.circle" : "circle")
                        Text(item.product.name)
                        Spacer()
                        Text(item.product.displayPrice)
                    }
                }
            }
        }
    }
}

struct PaymentButtonsView: View {
    let services: Services
    let state: MembershipState

    var body: some View {
        VStack(spacing: 12) {
            Button(words("Subscribe", "订阅")) { Task { await services.membership.purchase() } }
                .buttonStyle(.borderedProminent).controlSize(.large)
                .disabled(!state.canPurchase)
            // For goods and services outside of the app; digital content is sold by StoreKit.
            if ApplePayRequest.canMakePayments(networks: ["visa", "masterCard", "chinaUnionPay", "amex"]) {
                ApplePayButton {
                    let desk = services.desk
                    Task {
                        await services.membership.purchase(accept: [.applePay], currency: "CNY") { contract in
                            try await ApplePaySheet(desk: desk, contract: contract).present()
                        }
                    }
                }
                .frame(height: 48)
                .disabled(!state.canPurchase)
            }
            Text(state.shop.purchase.text(.preferred)).font(.footnote)
        }
    }
}

/// Restore, refund and manage.
struct PurchaseHelpView: View {
    let model: MembershipModel<StoreKitStorefront>
    let state: MembershipState

    var body: some View {
        VStack(spacing: 12) {
            Button(words("Restore purchases", "恢复购买")) { Task { await model.restore() } }
                .disabled(state.shop.isRestoring)
            Button(words("Manage subscriptions", "管理订阅")) { Task { await model.manage() } }
            ForEach(state.shop.items.filter(\.isOwned)) { item in
                Button(words("Request a refund for \(item.product.name)", "为“\(item.product.name)”申请退款")) {
                    Task { await model.requestRefund(product: item.id) }
                }
            }
        }
        .font(.footnote)
    }
}
