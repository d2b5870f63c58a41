#include "EmbeddedFiles.h"

// The compiler of every Swift that builds this knows #embed, and warns outside of C23.
#pragma clang diagnostic ignored "-Wc23-extensions"
#pragma clang diagnostic ignored "-Wconstant-conversion"

static const char api_description[] = {
#embed "../TidingsServer/API/openapi.yaml" suffix(, 0)
};

static const struct embedded_file console_files[] = {
    {"address.js", (const char[]){
#embed "../Console/Pages/address.js" suffix(, 0)
    }},
    {"api-page.css", (const char[]){
#embed "../Console/Pages/api-page.css" suffix(, 0)
    }},
    {"api.js", (const char[]){
#embed "../Console/Pages/api.js" suffix(, 0)
    }},
    {"app.js", (const char[]){
#embed "../Console/Pages/app.js" suffix(, 0)
    }},
    {"charts.js", (const char[]){
#embed "../Console/Pages/charts.js" suffix(, 0)
    }},
    {"compose-audience.js", (const char[]){
#embed "../Console/Pages/compose-audience.js" suffix(, 0)
    }},
    {"compose-draft.js", (const char[]){
#embed "../Console/Pages/compose-draft.js" suffix(, 0)
    }},
    {"compose-silent.js", (const char[]){
#embed "../Console/Pages/compose-silent.js" suffix(, 0)
    }},
    {"compose-templates.js", (const char[]){
#embed "../Console/Pages/compose-templates.js" suffix(, 0)
    }},
    {"compose.css", (const char[]){
#embed "../Console/Pages/compose.css" suffix(, 0)
    }},
    {"console.css", (const char[]){
#embed "../Console/Pages/console.css" suffix(, 0)
    }},
    {"devices.js", (const char[]){
#embed "../Console/Pages/devices.js" suffix(, 0)
    }},
    {"dom.js", (const char[]){
#embed "../Console/Pages/dom.js" suffix(, 0)
    }},
    {"events.js", (const char[]){
#embed "../Console/Pages/events.js" suffix(, 0)
    }},
    {"icon-tidings.svg", (const char[]){
#embed "../Console/Pages/icon-tidings.svg" suffix(, 0)
    }},
    {"index.html", (const char[]){
#embed "../Console/Pages/index.html" suffix(, 0)
    }},
    {"ios-delivery.md", (const char[]){
#embed "../Console/Pages/ios-delivery.md" suffix(, 0)
    }},
    {"legs-search.js", (const char[]){
#embed "../Console/Pages/legs-search.js" suffix(, 0)
    }},
    {"legs.js", (const char[]){
#embed "../Console/Pages/legs.js" suffix(, 0)
    }},
    {"links.js", (const char[]){
#embed "../Console/Pages/links.js" suffix(, 0)
    }},
    {"memory.js", (const char[]){
#embed "../Console/Pages/memory.js" suffix(, 0)
    }},
    {"message-list.js", (const char[]){
#embed "../Console/Pages/message-list.js" suffix(, 0)
    }},
    {"notification.js", (const char[]){
#embed "../Console/Pages/notification.js" suffix(, 0)
    }},
    {"overview-start.js", (const char[]){
#embed "../Console/Pages/overview-start.js" suffix(, 0)
    }},
    {"page-api.js", (const char[]){
#embed "../Console/Pages/page-api.js" suffix(, 0)
    }},
    {"page-apps.js", (const char[]){
#embed "../Console/Pages/page-apps.js" suffix(, 0)
    }},
    {"page-audit.js", (const char[]){
#embed "../Console/Pages/page-audit.js" suffix(, 0)
    }},
    {"page-compose.js", (const char[]){
#embed "../Console/Pages/page-compose.js" suffix(, 0)
    }},
    {"page-conversation.js", (const char[]){
#embed "../Console/Pages/page-conversation.js" suffix(, 0)
    }},
    {"page-conversations.js", (const char[]){
#embed "../Console/Pages/page-conversations.js" suffix(, 0)
    }},
    {"page-credentials.js", (const char[]){
#embed "../Console/Pages/page-credentials.js" suffix(, 0)
    }},
    {"page-device.js", (const char[]){
#embed "../Console/Pages/page-device.js" suffix(, 0)
    }},
    {"page-message.js", (const char[]){
#embed "../Console/Pages/page-message.js" suffix(, 0)
    }},
    {"page-messages.js", (const char[]){
#embed "../Console/Pages/page-messages.js" suffix(, 0)
    }},
    {"page-operators.js", (const char[]){
#embed "../Console/Pages/page-operators.js" suffix(, 0)
    }},
    {"page-overview.js", (const char[]){
#embed "../Console/Pages/page-overview.js" suffix(, 0)
    }},
    {"page-people.js", (const char[]){
#embed "../Console/Pages/page-people.js" suffix(, 0)
    }},
    {"page-person.js", (const char[]){
#embed "../Console/Pages/page-person.js" suffix(, 0)
    }},
    {"page-phones.js", (const char[]){
#embed "../Console/Pages/page-phones.js" suffix(, 0)
    }},
    {"page-push.js", (const char[]){
#embed "../Console/Pages/page-push.js" suffix(, 0)
    }},
    {"page-pushes.js", (const char[]){
#embed "../Console/Pages/page-pushes.js" suffix(, 0)
    }},
    {"page-reference.js", (const char[]){
#embed "../Console/Pages/page-reference.js" suffix(, 0)
    }},
    {"page-settings.js", (const char[]){
#embed "../Console/Pages/page-settings.js" suffix(, 0)
    }},
    {"page-signin.js", (const char[]){
#embed "../Console/Pages/page-signin.js" suffix(, 0)
    }},
    {"page-webhooks.js", (const char[]){
#embed "../Console/Pages/page-webhooks.js" suffix(, 0)
    }},
    {"password.js", (const char[]){
#embed "../Console/Pages/password.js" suffix(, 0)
    }},
    {"payload.js", (const char[]){
#embed "../Console/Pages/payload.js" suffix(, 0)
    }},
    {"phone-app.js", (const char[]){
#embed "../Console/Pages/phone-app.js" suffix(, 0)
    }},
    {"phone-controls.js", (const char[]){
#embed "../Console/Pages/phone-controls.js" suffix(, 0)
    }},
    {"phone-gestures.js", (const char[]){
#embed "../Console/Pages/phone-gestures.js" suffix(, 0)
    }},
    {"phone-icons.js", (const char[]){
#embed "../Console/Pages/phone-icons.js" suffix(, 0)
    }},
    {"phone-life.js", (const char[]){
#embed "../Console/Pages/phone-life.js" suffix(, 0)
    }},
    {"phone-link.js", (const char[]){
#embed "../Console/Pages/phone-link.js" suffix(, 0)
    }},
    {"phone-notices.js", (const char[]){
#embed "../Console/Pages/phone-notices.js" suffix(, 0)
    }},
    {"phone-panel.js", (const char[]){
#embed "../Console/Pages/phone-panel.js" suffix(, 0)
    }},
    {"phone-patch.js", (const char[]){
#embed "../Console/Pages/phone-patch.js" suffix(, 0)
    }},
    {"phone-rows.js", (const char[]){
#embed "../Console/Pages/phone-rows.js" suffix(, 0)
    }},
    {"phone-scenario-words.js", (const char[]){
#embed "../Console/Pages/phone-scenario-words.js" suffix(, 0)
    }},
    {"phone-scenario-writer.js", (const char[]){
#embed "../Console/Pages/phone-scenario-writer.js" suffix(, 0)
    }},
    {"phone-scenario.js", (const char[]){
#embed "../Console/Pages/phone-scenario.js" suffix(, 0)
    }},
    {"phone-system.js", (const char[]){
#embed "../Console/Pages/phone-system.js" suffix(, 0)
    }},
    {"phone-views.js", (const char[]){
#embed "../Console/Pages/phone-views.js" suffix(, 0)
    }},
    {"phone.css", (const char[]){
#embed "../Console/Pages/phone.css" suffix(, 0)
    }},
    {"phone.js", (const char[]){
#embed "../Console/Pages/phone.js" suffix(, 0)
    }},
    {"phones-page.css", (const char[]){
#embed "../Console/Pages/phones-page.css" suffix(, 0)
    }},
    {"quick.js", (const char[]){
#embed "../Console/Pages/quick.js" suffix(, 0)
    }},
    {"router.js", (const char[]){
#embed "../Console/Pages/router.js" suffix(, 0)
    }},
    {"routes.js", (const char[]){
#embed "../Console/Pages/routes.js" suffix(, 0)
    }},
    {"session.js", (const char[]){
#embed "../Console/Pages/session.js" suffix(, 0)
    }},
    {"text-en.js", (const char[]){
#embed "../Console/Pages/text-en.js" suffix(, 0)
    }},
    {"text-pages-en.js", (const char[]){
#embed "../Console/Pages/text-pages-en.js" suffix(, 0)
    }},
    {"text-pages-zh-Hans.js", (const char[]){
#embed "../Console/Pages/text-pages-zh-Hans.js" suffix(, 0)
    }},
    {"text-phones-en.js", (const char[]){
#embed "../Console/Pages/text-phones-en.js" suffix(, 0)
    }},
    {"text-phones-zh-Hans.js", (const char[]){
#embed "../Console/Pages/text-phones-zh-Hans.js" suffix(, 0)
    }},
    {"text-sentences-en.js", (const char[]){
#embed "../Console/Pages/text-sentences-en.js" suffix(, 0)
    }},
    {"text-sentences-zh-Hans.js", (const char[]){
#embed "../Console/Pages/text-sentences-zh-Hans.js" suffix(, 0)
    }},
    {"text-zh-Hans.js", (const char[]){
#embed "../Console/Pages/text-zh-Hans.js" suffix(, 0)
    }},
    {"text.js", (const char[]){
#embed "../Console/Pages/text.js" suffix(, 0)
    }},
    {"tokens.css", (const char[]){
#embed "../Console/Pages/tokens.css" suffix(, 0)
    }},
    {"trace-words.js", (const char[]){
#embed "../Console/Pages/trace-words.js" suffix(, 0)
    }},
    {"trace.js", (const char[]){
#embed "../Console/Pages/trace.js" suffix(, 0)
    }},
    {"widgets.js", (const char[]){
#embed "../Console/Pages/widgets.js" suffix(, 0)
    }},
};

const char *embedded_api_description(void) { return api_description; }

const struct embedded_file *embedded_console_file(int index) {
    const int count = sizeof console_files / sizeof console_files[0];
    return index >= 0 && index < count ? &console_files[index] : 0;
}
