// The files of the pages and of the documentation, embedded into the binary (C23, section 6.10.4). Tests compare the list
// with the folders.
#include "CPages.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char Assets_appstore_page_css[] = {
#embed "../Pages/Assets/appstore/page.css"
};
static const unsigned char Assets_appstore_page_js[] = {
#embed "../Pages/Assets/appstore/page.js"
};
static const unsigned char Assets_appstore_texts_js[] = {
#embed "../Pages/Assets/appstore/texts.js"
};
static const unsigned char Assets_appstore_views_js[] = {
#embed "../Pages/Assets/appstore/views.js"
};
static const unsigned char Assets_cashier_banner_js[] = {
#embed "../Pages/Assets/cashier/banner.js"
};
static const unsigned char Assets_cashier_cashier_js[] = {
#embed "../Pages/Assets/cashier/cashier.js"
};
static const unsigned char Assets_cashier_page_js[] = {
#embed "../Pages/Assets/cashier/page.js"
};
static const unsigned char Assets_cashier_return_js[] = {
#embed "../Pages/Assets/cashier/return.js"
};
static const unsigned char Assets_console_api_js[] = {
#embed "../Pages/Assets/console/api.js"
};
static const unsigned char Assets_console_console_css[] = {
#embed "../Pages/Assets/console/console.css"
};
static const unsigned char Assets_console_curl_js[] = {
#embed "../Pages/Assets/console/curl.js"
};
static const unsigned char Assets_console_dom_js[] = {
#embed "../Pages/Assets/console/dom.js"
};
static const unsigned char Assets_console_en_json[] = {
#embed "../Pages/Assets/console/en.json"
};
static const unsigned char Assets_console_format_js[] = {
#embed "../Pages/Assets/console/format.js"
};
static const unsigned char Assets_console_main_js[] = {
#embed "../Pages/Assets/console/main.js"
};
static const unsigned char Assets_console_money_js[] = {
#embed "../Pages/Assets/console/money.js"
};
static const unsigned char Assets_console_router_js[] = {
#embed "../Pages/Assets/console/router.js"
};
static const unsigned char Assets_console_text_js[] = {
#embed "../Pages/Assets/console/text.js"
};
static const unsigned char Assets_console_zh_Hans_json[] = {
#embed "../Pages/Assets/console/zh-Hans.json"
};
static const unsigned char Assets_console_acts_accounts_js[] = {
#embed "../Pages/Assets/console/acts-accounts.js"
};
static const unsigned char Assets_console_acts_order_js[] = {
#embed "../Pages/Assets/console/acts-order.js"
};
static const unsigned char Assets_console_acts_person_js[] = {
#embed "../Pages/Assets/console/acts-person.js"
};
static const unsigned char Assets_console_acts_sku_js[] = {
#embed "../Pages/Assets/console/acts-sku.js"
};
static const unsigned char Assets_console_balances_js[] = {
#embed "../Pages/Assets/console/balances.js"
};
static const unsigned char Assets_console_chart_js[] = {
#embed "../Pages/Assets/console/chart.js"
};
static const unsigned char Assets_console_dialog_js[] = {
#embed "../Pages/Assets/console/dialog.js"
};
static const unsigned char Assets_console_fields_js[] = {
#embed "../Pages/Assets/console/fields.js"
};
static const unsigned char Assets_console_filters_js[] = {
#embed "../Pages/Assets/console/filters.js"
};
static const unsigned char Assets_console_frame_js[] = {
#embed "../Pages/Assets/console/frame.js"
};
static const unsigned char Assets_console_list_js[] = {
#embed "../Pages/Assets/console/list.js"
};
static const unsigned char Assets_console_names_js[] = {
#embed "../Pages/Assets/console/names.js"
};
static const unsigned char Assets_console_page_js[] = {
#embed "../Pages/Assets/console/page.js"
};
static const unsigned char Assets_console_parts_js[] = {
#embed "../Pages/Assets/console/parts.js"
};
static const unsigned char Assets_console_result_js[] = {
#embed "../Pages/Assets/console/result.js"
};
static const unsigned char Assets_console_screen_accounts_js[] = {
#embed "../Pages/Assets/console/screen-accounts.js"
};
static const unsigned char Assets_console_screen_audit_js[] = {
#embed "../Pages/Assets/console/screen-audit.js"
};
static const unsigned char Assets_console_screen_catalogue_js[] = {
#embed "../Pages/Assets/console/screen-catalogue.js"
};
static const unsigned char Assets_console_screen_home_js[] = {
#embed "../Pages/Assets/console/screen-home.js"
};
static const unsigned char Assets_console_screen_jobs_js[] = {
#embed "../Pages/Assets/console/screen-jobs.js"
};
static const unsigned char Assets_console_screen_keys_js[] = {
#embed "../Pages/Assets/console/screen-keys.js"
};
static const unsigned char Assets_console_screen_notification_js[] = {
#embed "../Pages/Assets/console/screen-notification.js"
};
static const unsigned char Assets_console_screen_notifications_js[] = {
#embed "../Pages/Assets/console/screen-notifications.js"
};
static const unsigned char Assets_console_screen_order_js[] = {
#embed "../Pages/Assets/console/screen-order.js"
};
static const unsigned char Assets_console_screen_orders_js[] = {
#embed "../Pages/Assets/console/screen-orders.js"
};
static const unsigned char Assets_console_screen_people_js[] = {
#embed "../Pages/Assets/console/screen-people.js"
};
static const unsigned char Assets_console_screen_person_js[] = {
#embed "../Pages/Assets/console/screen-person.js"
};
static const unsigned char Assets_console_screen_sku_js[] = {
#embed "../Pages/Assets/console/screen-sku.js"
};
static const unsigned char Assets_console_screen_webhook_js[] = {
#embed "../Pages/Assets/console/screen-webhook.js"
};
static const unsigned char Assets_console_screen_webhooks_js[] = {
#embed "../Pages/Assets/console/screen-webhooks.js"
};
static const unsigned char Assets_console_screens_js[] = {
#embed "../Pages/Assets/console/screens.js"
};
static const unsigned char Assets_console_search_js[] = {
#embed "../Pages/Assets/console/search.js"
};
static const unsigned char Assets_console_session_js[] = {
#embed "../Pages/Assets/console/session.js"
};
static const unsigned char Assets_console_sign_in_js[] = {
#embed "../Pages/Assets/console/sign-in.js"
};
static const unsigned char Assets_console_sku_apple_js[] = {
#embed "../Pages/Assets/console/sku-apple.js"
};
static const unsigned char Assets_console_sku_form_js[] = {
#embed "../Pages/Assets/console/sku-form.js"
};
static const unsigned char Assets_console_sku_model_js[] = {
#embed "../Pages/Assets/console/sku-model.js"
};
static const unsigned char Assets_console_sku_offers_js[] = {
#embed "../Pages/Assets/console/sku-offers.js"
};
static const unsigned char Assets_console_sku_rows_js[] = {
#embed "../Pages/Assets/console/sku-rows.js"
};
static const unsigned char Assets_docs_docs_css[] = {
#embed "../Pages/Assets/docs/docs.css"
};
static const unsigned char Assets_docs_docs_js[] = {
#embed "../Pages/Assets/docs/docs.js"
};
static const unsigned char Assets_portal_card_js[] = {
#embed "../Pages/Assets/portal/card.js"
};
static const unsigned char Assets_portal_portal_js[] = {
#embed "../Pages/Assets/portal/portal.js"
};
static const unsigned char Assets_portal_watch_js[] = {
#embed "../Pages/Assets/portal/watch.js"
};
static const unsigned char Assets_sdk_accept_js[] = {
#embed "../Pages/Assets/sdk/accept.js"
};
static const unsigned char Assets_sdk_client_js[] = {
#embed "../Pages/Assets/sdk/client.js"
};
static const unsigned char Assets_sdk_define_js[] = {
#embed "../Pages/Assets/sdk/define.js"
};
static const unsigned char Assets_sdk_dialog_js[] = {
#embed "../Pages/Assets/sdk/dialog.js"
};
static const unsigned char Assets_sdk_draw_js[] = {
#embed "../Pages/Assets/sdk/draw.js"
};
static const unsigned char Assets_sdk_element_css[] = {
#embed "../Pages/Assets/sdk/element.css"
};
static const unsigned char Assets_sdk_element_js[] = {
#embed "../Pages/Assets/sdk/element.js"
};
static const unsigned char Assets_sdk_errors_js[] = {
#embed "../Pages/Assets/sdk/errors.js"
};
static const unsigned char Assets_sdk_exits_js[] = {
#embed "../Pages/Assets/sdk/exits.js"
};
static const unsigned char Assets_sdk_flow_acts_js[] = {
#embed "../Pages/Assets/sdk/flow-acts.js"
};
static const unsigned char Assets_sdk_flow_js[] = {
#embed "../Pages/Assets/sdk/flow.js"
};
static const unsigned char Assets_sdk_icons_js[] = {
#embed "../Pages/Assets/sdk/icons.js"
};
static const unsigned char Assets_sdk_intentions_js[] = {
#embed "../Pages/Assets/sdk/intentions.js"
};
static const unsigned char Assets_sdk_methods_js[] = {
#embed "../Pages/Assets/sdk/methods.js"
};
static const unsigned char Assets_sdk_pay_apple_js[] = {
#embed "../Pages/Assets/sdk/pay-apple.js"
};
static const unsigned char Assets_sdk_pay_stripe_js[] = {
#embed "../Pages/Assets/sdk/pay-stripe.js"
};
static const unsigned char Assets_sdk_pay_wechat_js[] = {
#embed "../Pages/Assets/sdk/pay-wechat.js"
};
static const unsigned char Assets_sdk_pay_css[] = {
#embed "../Pages/Assets/sdk/pay.css"
};
static const unsigned char Assets_sdk_paydesk_d_ts[] = {
#embed "../Pages/Assets/sdk/paydesk.d.ts"
};
static const unsigned char Assets_sdk_paydesk_js[] = {
#embed "../Pages/Assets/sdk/paydesk.js"
};
static const unsigned char Assets_sdk_present_message_js[] = {
#embed "../Pages/Assets/sdk/present-message.js"
};
static const unsigned char Assets_sdk_present_parts_js[] = {
#embed "../Pages/Assets/sdk/present-parts.js"
};
static const unsigned char Assets_sdk_present_js[] = {
#embed "../Pages/Assets/sdk/present.js"
};
static const unsigned char Assets_sdk_stream_js[] = {
#embed "../Pages/Assets/sdk/stream.js"
};
static const unsigned char Assets_sdk_texts_js[] = {
#embed "../Pages/Assets/sdk/texts.js"
};
static const unsigned char Assets_sdk_tokens_css[] = {
#embed "../Pages/Assets/sdk/tokens.css"
};
static const unsigned char Assets_sdk_transport_js[] = {
#embed "../Pages/Assets/sdk/transport.js"
};
static const unsigned char Assets_sdk_view_parts_js[] = {
#embed "../Pages/Assets/sdk/view-parts.js"
};
static const unsigned char Assets_sdk_views_js[] = {
#embed "../Pages/Assets/sdk/views.js"
};
static const unsigned char Assets_sdk_wait_js[] = {
#embed "../Pages/Assets/sdk/wait.js"
};
static const unsigned char Assets_sdk_words_js[] = {
#embed "../Pages/Assets/sdk/words.js"
};
static const unsigned char Docs_CHANGELOG_md[] = {
#embed "../../CHANGELOG.md"
};
static const unsigned char Docs_CONTRIBUTING_md[] = {
#embed "../../CONTRIBUTING.md"
};
static const unsigned char Docs_README_md[] = {
#embed "../../README.md"
};
static const unsigned char Docs_README_zh_CN_md[] = {
#embed "../../README.zh-CN.md"
};
static const unsigned char Docs_Sources_ProviderKit_ProviderKit_docc_RemotePlugins_md[] = {
#embed "../../Sources/ProviderKit/ProviderKit.docc/RemotePlugins.md"
};
static const unsigned char Docs_Sources_ProviderKit_ProviderKit_docc_WritingAProvider_md[] = {
#embed "../../Sources/ProviderKit/ProviderKit.docc/WritingAProvider.md"
};
static const unsigned char Docs_docs_api_md[] = {
#embed "../../docs/api.md"
};
static const unsigned char Docs_docs_app_store_md[] = {
#embed "../../docs/app-store.md"
};
static const unsigned char Docs_docs_apple_pay_md[] = {
#embed "../../docs/apple-pay.md"
};
static const unsigned char Docs_docs_architecture_md[] = {
#embed "../../docs/architecture.md"
};
static const unsigned char Docs_docs_cashier_md[] = {
#embed "../../docs/cashier.md"
};
static const unsigned char Docs_docs_cashier_png[] = {
#embed "../../docs/cashier.png"
};
static const unsigned char Docs_docs_configuration_md[] = {
#embed "../../docs/configuration.md"
};
static const unsigned char Docs_docs_console_orders_png[] = {
#embed "../../docs/console-orders.png"
};
static const unsigned char Docs_docs_console_person_png[] = {
#embed "../../docs/console-person.png"
};
static const unsigned char Docs_docs_console_md[] = {
#embed "../../docs/console.md"
};
static const unsigned char Docs_docs_development_md[] = {
#embed "../../docs/development.md"
};
static const unsigned char Docs_docs_domain_md[] = {
#embed "../../docs/domain.md"
};
static const unsigned char Docs_docs_external_purchases_md[] = {
#embed "../../docs/external-purchases.md"
};
static const unsigned char Docs_docs_first_hour_md[] = {
#embed "../../docs/first-hour.md"
};
static const unsigned char Docs_docs_glossary_md[] = {
#embed "../../docs/glossary.md"
};
static const unsigned char Docs_docs_ios_md[] = {
#embed "../../docs/ios.md"
};
static const unsigned char Docs_docs_javascript_md[] = {
#embed "../../docs/javascript.md"
};
static const unsigned char Docs_docs_live_md[] = {
#embed "../../docs/live.md"
};
static const unsigned char Docs_docs_operations_md[] = {
#embed "../../docs/operations.md"
};
static const unsigned char Docs_docs_packages_md[] = {
#embed "../../docs/packages.md"
};
static const unsigned char Docs_docs_partners_md[] = {
#embed "../../docs/partners.md"
};
static const unsigned char Docs_docs_portal_md[] = {
#embed "../../docs/portal.md"
};
static const unsigned char Docs_docs_providers_alipay_md[] = {
#embed "../../docs/providers/alipay.md"
};
static const unsigned char Docs_docs_providers_epay_md[] = {
#embed "../../docs/providers/epay.md"
};
static const unsigned char Docs_docs_providers_paypal_md[] = {
#embed "../../docs/providers/paypal.md"
};
static const unsigned char Docs_docs_providers_remote_md[] = {
#embed "../../docs/providers/remote.md"
};
static const unsigned char Docs_docs_providers_sandbox_md[] = {
#embed "../../docs/providers/sandbox.md"
};
static const unsigned char Docs_docs_providers_stripe_md[] = {
#embed "../../docs/providers/stripe.md"
};
static const unsigned char Docs_docs_providers_wechat_pay_md[] = {
#embed "../../docs/providers/wechat-pay.md"
};
static const unsigned char Docs_docs_subscriptions_md[] = {
#embed "../../docs/subscriptions.md"
};
static const unsigned char Docs_docs_wallets_md[] = {
#embed "../../docs/wallets.md"
};
static const unsigned char Icons_favicon_ico[] = {
#embed "../Pages/Icons/favicon.ico"
};
static const unsigned char Templates_alert_mustache[] = {
#embed "../Pages/Templates/alert.mustache"
};
static const unsigned char Templates_apple_iap_mustache[] = {
#embed "../Pages/Templates/apple_iap.mustache"
};
static const unsigned char Templates_apple_pay_mustache[] = {
#embed "../Pages/Templates/apple_pay.mustache"
};
static const unsigned char Templates_appstore_mustache[] = {
#embed "../Pages/Templates/appstore.mustache"
};
static const unsigned char Templates_card_mustache[] = {
#embed "../Pages/Templates/card.mustache"
};
static const unsigned char Templates_cashier_mustache[] = {
#embed "../Pages/Templates/cashier.mustache"
};
static const unsigned char Templates_docs_mustache[] = {
#embed "../Pages/Templates/docs.mustache"
};
static const unsigned char Templates_fields_mustache[] = {
#embed "../Pages/Templates/fields.mustache"
};
static const unsigned char Templates_home_mustache[] = {
#embed "../Pages/Templates/home.mustache"
};
static const unsigned char Templates_icons_mustache[] = {
#embed "../Pages/Templates/icons.mustache"
};
static const unsigned char Templates_live_shown_mustache[] = {
#embed "../Pages/Templates/live-shown.mustache"
};
static const unsigned char Templates_live_mustache[] = {
#embed "../Pages/Templates/live.mustache"
};
static const unsigned char Templates_message_mustache[] = {
#embed "../Pages/Templates/message.mustache"
};
static const unsigned char Templates_methods_mustache[] = {
#embed "../Pages/Templates/methods.mustache"
};
static const unsigned char Templates_paid_mustache[] = {
#embed "../Pages/Templates/paid.mustache"
};
static const unsigned char Templates_plans_mustache[] = {
#embed "../Pages/Templates/plans.mustache"
};
static const unsigned char Templates_qr_mustache[] = {
#embed "../Pages/Templates/qr.mustache"
};
static const unsigned char Templates_receipt_mustache[] = {
#embed "../Pages/Templates/receipt.mustache"
};
static const unsigned char Templates_redirect_mustache[] = {
#embed "../Pages/Templates/redirect.mustache"
};
static const unsigned char Templates_stripe_mustache[] = {
#embed "../Pages/Templates/stripe.mustache"
};
static const unsigned char Templates_summary_mustache[] = {
#embed "../Pages/Templates/summary.mustache"
};
static const unsigned char Templates_ways_mustache[] = {
#embed "../Pages/Templates/ways.mustache"
};
static const unsigned char Templates_console_mustache[] = {
#embed "../Pages/Templates/console.mustache"
};
static const unsigned char Templates_crumb_mustache[] = {
#embed "../Pages/Templates/crumb.mustache"
};
static const unsigned char Templates_dated_mustache[] = {
#embed "../Pages/Templates/dated.mustache"
};
static const unsigned char Templates_order_mustache[] = {
#embed "../Pages/Templates/order.mustache"
};
static const unsigned char Templates_overview_mustache[] = {
#embed "../Pages/Templates/overview.mustache"
};
static const unsigned char Templates_page_foot_mustache[] = {
#embed "../Pages/Templates/page-foot.mustache"
};
static const unsigned char Templates_page_head_mustache[] = {
#embed "../Pages/Templates/page-head.mustache"
};
static const unsigned char Templates_page_top_mustache[] = {
#embed "../Pages/Templates/page-top.mustache"
};
static const unsigned char Templates_portal_mustache[] = {
#embed "../Pages/Templates/portal.mustache"
};
static const unsigned char Templates_sub_acts_mustache[] = {
#embed "../Pages/Templates/sub-acts.mustache"
};
static const unsigned char Templates_sub_facts_mustache[] = {
#embed "../Pages/Templates/sub-facts.mustache"
};
static const unsigned char Templates_subscription_mustache[] = {
#embed "../Pages/Templates/subscription.mustache"
};
static const unsigned char Templates_tag_mustache[] = {
#embed "../Pages/Templates/tag.mustache"
};
static const unsigned char Templates_time_mustache[] = {
#embed "../Pages/Templates/time.mustache"
};
static const unsigned char Templates_wechat_jsapi_mustache[] = {
#embed "../Pages/Templates/wechat_jsapi.mustache"
};
static const unsigned char Texts_docs_en_json[] = {
#embed "../Pages/Texts/docs.en.json"
};
static const unsigned char Texts_docs_zh_Hans_json[] = {
#embed "../Pages/Texts/docs.zh-Hans.json"
};
static const unsigned char Texts_en_json[] = {
#embed "../Pages/Texts/en.json"
};
static const unsigned char Texts_home_en_json[] = {
#embed "../Pages/Texts/home.en.json"
};
static const unsigned char Texts_home_zh_Hans_json[] = {
#embed "../Pages/Texts/home.zh-Hans.json"
};
static const unsigned char Texts_portal_en_json[] = {
#embed "../Pages/Texts/portal.en.json"
};
static const unsigned char Texts_portal_zh_Hans_json[] = {
#embed "../Pages/Texts/portal.zh-Hans.json"
};
static const unsigned char Texts_zh_Hans_json[] = {
#embed "../Pages/Texts/zh-Hans.json"
};

static const struct cpages_file files[] = {
    {"Assets/appstore/page.css", Assets_appstore_page_css, sizeof Assets_appstore_page_css},
    {"Assets/appstore/page.js", Assets_appstore_page_js, sizeof Assets_appstore_page_js},
    {"Assets/appstore/texts.js", Assets_appstore_texts_js, sizeof Assets_appstore_texts_js},
    {"Assets/appstore/views.js", Assets_appstore_views_js, sizeof Assets_appstore_views_js},
    {"Assets/cashier/banner.js", Assets_cashier_banner_js, sizeof Assets_cashier_banner_js},
    {"Assets/cashier/cashier.js", Assets_cashier_cashier_js, sizeof Assets_cashier_cashier_js},
    {"Assets/cashier/page.js", Assets_cashier_page_js, sizeof Assets_cashier_page_js},
    {"Assets/cashier/return.js", Assets_cashier_return_js, sizeof Assets_cashier_return_js},
    {"Assets/console/api.js", Assets_console_api_js, sizeof Assets_console_api_js},
    {"Assets/console/console.css", Assets_console_console_css, sizeof Assets_console_console_css},
    {"Assets/console/curl.js", Assets_console_curl_js, sizeof Assets_console_curl_js},
    {"Assets/console/dom.js", Assets_console_dom_js, sizeof Assets_console_dom_js},
    {"Assets/console/en.json", Assets_console_en_json, sizeof Assets_console_en_json},
    {"Assets/console/format.js", Assets_console_format_js, sizeof Assets_console_format_js},
    {"Assets/console/main.js", Assets_console_main_js, sizeof Assets_console_main_js},
    {"Assets/console/money.js", Assets_console_money_js, sizeof Assets_console_money_js},
    {"Assets/console/router.js", Assets_console_router_js, sizeof Assets_console_router_js},
    {"Assets/console/text.js", Assets_console_text_js, sizeof Assets_console_text_js},
    {"Assets/console/zh-Hans.json", Assets_console_zh_Hans_json, sizeof Assets_console_zh_Hans_json},
    {"Assets/console/acts-accounts.js", Assets_console_acts_accounts_js, sizeof Assets_console_acts_accounts_js},
    {"Assets/console/acts-order.js", Assets_console_acts_order_js, sizeof Assets_console_acts_order_js},
    {"Assets/console/acts-person.js", Assets_console_acts_person_js, sizeof Assets_console_acts_person_js},
    {"Assets/console/acts-sku.js", Assets_console_acts_sku_js, sizeof Assets_console_acts_sku_js},
    {"Assets/console/balances.js", Assets_console_balances_js, sizeof Assets_console_balances_js},
    {"Assets/console/chart.js", Assets_console_chart_js, sizeof Assets_console_chart_js},
    {"Assets/console/dialog.js", Assets_console_dialog_js, sizeof Assets_console_dialog_js},
    {"Assets/console/fields.js", Assets_console_fields_js, sizeof Assets_console_fields_js},
    {"Assets/console/filters.js", Assets_console_filters_js, sizeof Assets_console_filters_js},
    {"Assets/console/frame.js", Assets_console_frame_js, sizeof Assets_console_frame_js},
    {"Assets/console/list.js", Assets_console_list_js, sizeof Assets_console_list_js},
    {"Assets/console/names.js", Assets_console_names_js, sizeof Assets_console_names_js},
    {"Assets/console/page.js", Assets_console_page_js, sizeof Assets_console_page_js},
    {"Assets/console/parts.js", Assets_console_parts_js, sizeof Assets_console_parts_js},
    {"Assets/console/result.js", Assets_console_result_js, sizeof Assets_console_result_js},
    {"Assets/console/screen-accounts.js", Assets_console_screen_accounts_js, sizeof Assets_console_screen_accounts_js},
    {"Assets/console/screen-audit.js", Assets_console_screen_audit_js, sizeof Assets_console_screen_audit_js},
    {"Assets/console/screen-catalogue.js", Assets_console_screen_catalogue_js, sizeof Assets_console_screen_catalogue_js},
    {"Assets/console/screen-home.js", Assets_console_screen_home_js, sizeof Assets_console_screen_home_js},
    {"Assets/console/screen-jobs.js", Assets_console_screen_jobs_js, sizeof Assets_console_screen_jobs_js},
    {"Assets/console/screen-keys.js", Assets_console_screen_keys_js, sizeof Assets_console_screen_keys_js},
    {"Assets/console/screen-notification.js", Assets_console_screen_notification_js, sizeof Assets_console_screen_notification_js},
    {"Assets/console/screen-notifications.js", Assets_console_screen_notifications_js, sizeof Assets_console_screen_notifications_js},
    {"Assets/console/screen-order.js", Assets_console_screen_order_js, sizeof Assets_console_screen_order_js},
    {"Assets/console/screen-orders.js", Assets_console_screen_orders_js, sizeof Assets_console_screen_orders_js},
    {"Assets/console/screen-people.js", Assets_console_screen_people_js, sizeof Assets_console_screen_people_js},
    {"Assets/console/screen-person.js", Assets_console_screen_person_js, sizeof Assets_console_screen_person_js},
    {"Assets/console/screen-sku.js", Assets_console_screen_sku_js, sizeof Assets_console_screen_sku_js},
    {"Assets/console/screen-webhook.js", Assets_console_screen_webhook_js, sizeof Assets_console_screen_webhook_js},
    {"Assets/console/screen-webhooks.js", Assets_console_screen_webhooks_js, sizeof Assets_console_screen_webhooks_js},
    {"Assets/console/screens.js", Assets_console_screens_js, sizeof Assets_console_screens_js},
    {"Assets/console/search.js", Assets_console_search_js, sizeof Assets_console_search_js},
    {"Assets/console/session.js", Assets_console_session_js, sizeof Assets_console_session_js},
    {"Assets/console/sign-in.js", Assets_console_sign_in_js, sizeof Assets_console_sign_in_js},
    {"Assets/console/sku-apple.js", Assets_console_sku_apple_js, sizeof Assets_console_sku_apple_js},
    {"Assets/console/sku-form.js", Assets_console_sku_form_js, sizeof Assets_console_sku_form_js},
    {"Assets/console/sku-model.js", Assets_console_sku_model_js, sizeof Assets_console_sku_model_js},
    {"Assets/console/sku-offers.js", Assets_console_sku_offers_js, sizeof Assets_console_sku_offers_js},
    {"Assets/console/sku-rows.js", Assets_console_sku_rows_js, sizeof Assets_console_sku_rows_js},
    {"Assets/docs/docs.css", Assets_docs_docs_css, sizeof Assets_docs_docs_css},
    {"Assets/docs/docs.js", Assets_docs_docs_js, sizeof Assets_docs_docs_js},
    {"Assets/portal/card.js", Assets_portal_card_js, sizeof Assets_portal_card_js},
    {"Assets/portal/portal.js", Assets_portal_portal_js, sizeof Assets_portal_portal_js},
    {"Assets/portal/watch.js", Assets_portal_watch_js, sizeof Assets_portal_watch_js},
    {"Assets/sdk/accept.js", Assets_sdk_accept_js, sizeof Assets_sdk_accept_js},
    {"Assets/sdk/client.js", Assets_sdk_client_js, sizeof Assets_sdk_client_js},
    {"Assets/sdk/define.js", Assets_sdk_define_js, sizeof Assets_sdk_define_js},
    {"Assets/sdk/dialog.js", Assets_sdk_dialog_js, sizeof Assets_sdk_dialog_js},
    {"Assets/sdk/draw.js", Assets_sdk_draw_js, sizeof Assets_sdk_draw_js},
    {"Assets/sdk/element.css", Assets_sdk_element_css, sizeof Assets_sdk_element_css},
    {"Assets/sdk/element.js", Assets_sdk_element_js, sizeof Assets_sdk_element_js},
    {"Assets/sdk/errors.js", Assets_sdk_errors_js, sizeof Assets_sdk_errors_js},
    {"Assets/sdk/exits.js", Assets_sdk_exits_js, sizeof Assets_sdk_exits_js},
    {"Assets/sdk/flow-acts.js", Assets_sdk_flow_acts_js, sizeof Assets_sdk_flow_acts_js},
    {"Assets/sdk/flow.js", Assets_sdk_flow_js, sizeof Assets_sdk_flow_js},
    {"Assets/sdk/icons.js", Assets_sdk_icons_js, sizeof Assets_sdk_icons_js},
    {"Assets/sdk/intentions.js", Assets_sdk_intentions_js, sizeof Assets_sdk_intentions_js},
    {"Assets/sdk/methods.js", Assets_sdk_methods_js, sizeof Assets_sdk_methods_js},
    {"Assets/sdk/pay-apple.js", Assets_sdk_pay_apple_js, sizeof Assets_sdk_pay_apple_js},
    {"Assets/sdk/pay-stripe.js", Assets_sdk_pay_stripe_js, sizeof Assets_sdk_pay_stripe_js},
    {"Assets/sdk/pay-wechat.js", Assets_sdk_pay_wechat_js, sizeof Assets_sdk_pay_wechat_js},
    {"Assets/sdk/pay.css", Assets_sdk_pay_css, sizeof Assets_sdk_pay_css},
    {"Assets/sdk/paydesk.d.ts", Assets_sdk_paydesk_d_ts, sizeof Assets_sdk_paydesk_d_ts},
    {"Assets/sdk/paydesk.js", Assets_sdk_paydesk_js, sizeof Assets_sdk_paydesk_js},
    {"Assets/sdk/present-message.js", Assets_sdk_present_message_js, sizeof Assets_sdk_present_message_js},
    {"Assets/sdk/present-parts.js", Assets_sdk_present_parts_js, sizeof Assets_sdk_present_parts_js},
    {"Assets/sdk/present.js", Assets_sdk_present_js, sizeof Assets_sdk_present_js},
    {"Assets/sdk/stream.js", Assets_sdk_stream_js, sizeof Assets_sdk_stream_js},
    {"Assets/sdk/texts.js", Assets_sdk_texts_js, sizeof Assets_sdk_texts_js},
    {"Assets/sdk/tokens.css", Assets_sdk_tokens_css, sizeof Assets_sdk_tokens_css},
    {"Assets/sdk/transport.js", Assets_sdk_transport_js, sizeof Assets_sdk_transport_js},
    {"Assets/sdk/view-parts.js", Assets_sdk_view_parts_js, sizeof Assets_sdk_view_parts_js},
    {"Assets/sdk/views.js", Assets_sdk_views_js, sizeof Assets_sdk_views_js},
    {"Assets/sdk/wait.js", Assets_sdk_wait_js, sizeof Assets_sdk_wait_js},
    {"Assets/sdk/words.js", Assets_sdk_words_js, sizeof Assets_sdk_words_js},
    {"Docs/CHANGELOG.md", Docs_CHANGELOG_md, sizeof Docs_CHANGELOG_md},
    {"Docs/CONTRIBUTING.md", Docs_CONTRIBUTING_md, sizeof Docs_CONTRIBUTING_md},
    {"Docs/README.md", Docs_README_md, sizeof Docs_README_md},
    {"Docs/README.zh-CN.md", Docs_README_zh_CN_md, sizeof Docs_README_zh_CN_md},
    {"Docs/Sources/ProviderKit/ProviderKit.docc/RemotePlugins.md", Docs_Sources_ProviderKit_ProviderKit_docc_RemotePlugins_md, sizeof Docs_Sources_ProviderKit_ProviderKit_docc_RemotePlugins_md},
    {"Docs/Sources/ProviderKit/ProviderKit.docc/WritingAProvider.md", Docs_Sources_ProviderKit_ProviderKit_docc_WritingAProvider_md, sizeof Docs_Sources_ProviderKit_ProviderKit_docc_WritingAProvider_md},
    {"Docs/docs/api.md", Docs_docs_api_md, sizeof Docs_docs_api_md},
    {"Docs/docs/app-store.md", Docs_docs_app_store_md, sizeof Docs_docs_app_store_md},
    {"Docs/docs/apple-pay.md", Docs_docs_apple_pay_md, sizeof Docs_docs_apple_pay_md},
    {"Docs/docs/architecture.md", Docs_docs_architecture_md, sizeof Docs_docs_architecture_md},
    {"Docs/docs/cashier.md", Docs_docs_cashier_md, sizeof Docs_docs_cashier_md},
    {"Docs/docs/cashier.png", Docs_docs_cashier_png, sizeof Docs_docs_cashier_png},
    {"Docs/docs/configuration.md", Docs_docs_configuration_md, sizeof Docs_docs_configuration_md},
    {"Docs/docs/console-orders.png", Docs_docs_console_orders_png, sizeof Docs_docs_console_orders_png},
    {"Docs/docs/console-person.png", Docs_docs_console_person_png, sizeof Docs_docs_console_person_png},
    {"Docs/docs/console.md", Docs_docs_console_md, sizeof Docs_docs_console_md},
    {"Docs/docs/development.md", Docs_docs_development_md, sizeof Docs_docs_development_md},
    {"Docs/docs/domain.md", Docs_docs_domain_md, sizeof Docs_docs_domain_md},
    {"Docs/docs/external-purchases.md", Docs_docs_external_purchases_md, sizeof Docs_docs_external_purchases_md},
    {"Docs/docs/first-hour.md", Docs_docs_first_hour_md, sizeof Docs_docs_first_hour_md},
    {"Docs/docs/glossary.md", Docs_docs_glossary_md, sizeof Docs_docs_glossary_md},
    {"Docs/docs/ios.md", Docs_docs_ios_md, sizeof Docs_docs_ios_md},
    {"Docs/docs/javascript.md", Docs_docs_javascript_md, sizeof Docs_docs_javascript_md},
    {"Docs/docs/live.md", Docs_docs_live_md, sizeof Docs_docs_live_md},
    {"Docs/docs/operations.md", Docs_docs_operations_md, sizeof Docs_docs_operations_md},
    {"Docs/docs/packages.md", Docs_docs_packages_md, sizeof Docs_docs_packages_md},
    {"Docs/docs/partners.md", Docs_docs_partners_md, sizeof Docs_docs_partners_md},
    {"Docs/docs/portal.md", Docs_docs_portal_md, sizeof Docs_docs_portal_md},
    {"Docs/docs/providers/alipay.md", Docs_docs_providers_alipay_md, sizeof Docs_docs_providers_alipay_md},
    {"Docs/docs/providers/epay.md", Docs_docs_providers_epay_md, sizeof Docs_docs_providers_epay_md},
    {"Docs/docs/providers/paypal.md", Docs_docs_providers_paypal_md, sizeof Docs_docs_providers_paypal_md},
    {"Docs/docs/providers/remote.md", Docs_docs_providers_remote_md, sizeof Docs_docs_providers_remote_md},
    {"Docs/docs/providers/sandbox.md", Docs_docs_providers_sandbox_md, sizeof Docs_docs_providers_sandbox_md},
    {"Docs/docs/providers/stripe.md", Docs_docs_providers_stripe_md, sizeof Docs_docs_providers_stripe_md},
    {"Docs/docs/providers/wechat-pay.md", Docs_docs_providers_wechat_pay_md, sizeof Docs_docs_providers_wechat_pay_md},
    {"Docs/docs/subscriptions.md", Docs_docs_subscriptions_md, sizeof Docs_docs_subscriptions_md},
    {"Docs/docs/wallets.md", Docs_docs_wallets_md, sizeof Docs_docs_wallets_md},
    {"Icons/favicon.ico", Icons_favicon_ico, sizeof Icons_favicon_ico},
    {"Templates/alert.mustache", Templates_alert_mustache, sizeof Templates_alert_mustache},
    {"Templates/apple_iap.mustache", Templates_apple_iap_mustache, sizeof Templates_apple_iap_mustache},
    {"Templates/apple_pay.mustache", Templates_apple_pay_mustache, sizeof Templates_apple_pay_mustache},
    {"Templates/appstore.mustache", Templates_appstore_mustache, sizeof Templates_appstore_mustache},
    {"Templates/card.mustache", Templates_card_mustache, sizeof Templates_card_mustache},
    {"Templates/cashier.mustache", Templates_cashier_mustache, sizeof Templates_cashier_mustache},
    {"Templates/docs.mustache", Templates_docs_mustache, sizeof Templates_docs_mustache},
    {"Templates/fields.mustache", Templates_fields_mustache, sizeof Templates_fields_mustache},
    {"Templates/home.mustache", Templates_home_mustache, sizeof Templates_home_mustache},
    {"Templates/icons.mustache", Templates_icons_mustache, sizeof Templates_icons_mustache},
    {"Templates/live-shown.mustache", Templates_live_shown_mustache, sizeof Templates_live_shown_mustache},
    {"Templates/live.mustache", Templates_live_mustache, sizeof Templates_live_mustache},
    {"Templates/message.mustache", Templates_message_mustache, sizeof Templates_message_mustache},
    {"Templates/methods.mustache", Templates_methods_mustache, sizeof Templates_methods_mustache},
    {"Templates/paid.mustache", Templates_paid_mustache, sizeof Templates_paid_mustache},
    {"Templates/plans.mustache", Templates_plans_mustache, sizeof Templates_plans_mustache},
    {"Templates/qr.mustache", Templates_qr_mustache, sizeof Templates_qr_mustache},
    {"Templates/receipt.mustache", Templates_receipt_mustache, sizeof Templates_receipt_mustache},
    {"Templates/redirect.mustache", Templates_redirect_mustache, sizeof Templates_redirect_mustache},
    {"Templates/stripe.mustache", Templates_stripe_mustache, sizeof Templates_stripe_mustache},
    {"Templates/summary.mustache", Templates_summary_mustache, sizeof Templates_summary_mustache},
    {"Templates/ways.mustache", Templates_ways_mustache, sizeof Templates_ways_mustache},
    {"Templates/console.mustache", Templates_console_mustache, sizeof Templates_console_mustache},
    {"Templates/crumb.mustache", Templates_crumb_mustache, sizeof Templates_crumb_mustache},
    {"Templates/dated.mustache", Templates_dated_mustache, sizeof Templates_dated_mustache},
    {"Templates/order.mustache", Templates_order_mustache, sizeof Templates_order_mustache},
    {"Templates/overview.mustache", Templates_overview_mustache, sizeof Templates_overview_mustache},
    {"Templates/page-foot.mustache", Templates_page_foot_mustache, sizeof Templates_page_foot_mustache},
    {"Templates/page-head.mustache", Templates_page_head_mustache, sizeof Templates_page_head_mustache},
    {"Templates/page-top.mustache", Templates_page_top_mustache, sizeof Templates_page_top_mustache},
    {"Templates/portal.mustache", Templates_portal_mustache, sizeof Templates_portal_mustache},
    {"Templates/sub-acts.mustache", Templates_sub_acts_mustache, sizeof Templates_sub_acts_mustache},
    {"Templates/sub-facts.mustache", Templates_sub_facts_mustache, sizeof Templates_sub_facts_mustache},
    {"Templates/subscription.mustache", Templates_subscription_mustache, sizeof Templates_subscription_mustache},
    {"Templates/tag.mustache", Templates_tag_mustache, sizeof Templates_tag_mustache},
    {"Templates/time.mustache", Templates_time_mustache, sizeof Templates_time_mustache},
    {"Templates/wechat_jsapi.mustache", Templates_wechat_jsapi_mustache, sizeof Templates_wechat_jsapi_mustache},
    {"Texts/docs.en.json", Texts_docs_en_json, sizeof Texts_docs_en_json},
    {"Texts/docs.zh-Hans.json", Texts_docs_zh_Hans_json, sizeof Texts_docs_zh_Hans_json},
    {"Texts/en.json", Texts_en_json, sizeof Texts_en_json},
    {"Texts/home.en.json", Texts_home_en_json, sizeof Texts_home_en_json},
    {"Texts/home.zh-Hans.json", Texts_home_zh_Hans_json, sizeof Texts_home_zh_Hans_json},
    {"Texts/portal.en.json", Texts_portal_en_json, sizeof Texts_portal_en_json},
    {"Texts/portal.zh-Hans.json", Texts_portal_zh_Hans_json, sizeof Texts_portal_zh_Hans_json},
    {"Texts/zh-Hans.json", Texts_zh_Hans_json, sizeof Texts_zh_Hans_json},
};

const struct cpages_file *cpages_file_at(unsigned long index) {
    return index < sizeof files / sizeof *files ? &files[index] : 0;
}
