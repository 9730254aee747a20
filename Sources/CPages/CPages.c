// The files of the pages, embedded into the binary (C23, section 6.10.4). A test compares the list with the folders.
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
static const unsigned char Assets_cashier_return_js[] = {
#embed "../Pages/Assets/cashier/return.js"
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
static const unsigned char Templates_cashier_mustache[] = {
#embed "../Pages/Templates/cashier.mustache"
};
static const unsigned char Templates_fields_mustache[] = {
#embed "../Pages/Templates/fields.mustache"
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
static const unsigned char Texts_en_json[] = {
#embed "../Pages/Texts/en.json"
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
    {"Assets/cashier/return.js", Assets_cashier_return_js, sizeof Assets_cashier_return_js},
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
    {"Templates/alert.mustache", Templates_alert_mustache, sizeof Templates_alert_mustache},
    {"Templates/apple_iap.mustache", Templates_apple_iap_mustache, sizeof Templates_apple_iap_mustache},
    {"Templates/apple_pay.mustache", Templates_apple_pay_mustache, sizeof Templates_apple_pay_mustache},
    {"Templates/appstore.mustache", Templates_appstore_mustache, sizeof Templates_appstore_mustache},
    {"Templates/cashier.mustache", Templates_cashier_mustache, sizeof Templates_cashier_mustache},
    {"Templates/fields.mustache", Templates_fields_mustache, sizeof Templates_fields_mustache},
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
    {"Texts/en.json", Texts_en_json, sizeof Texts_en_json},
    {"Texts/zh-Hans.json", Texts_zh_Hans_json, sizeof Texts_zh_Hans_json},
};

const struct cpages_file *cpages_file_at(unsigned long index) {
    return index < sizeof files / sizeof *files ? &files[index] : 0;
}
