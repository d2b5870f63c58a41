/// One file of the console's pages, as it is in the folder Pages: HTML, CSS, ES modules, pictures and a page of the documentation, compiled in, so that the server's binary
/// needs no file at its side.
package struct ConsoleFile: Hashable, Sendable {
    package var name: String
    package var bytes: [UInt8]

    init(_ name: String, _ bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }

    package static let all: [ConsoleFile] = [
        .init("api.js", PackageResources.api_js),
        .init("app.js", PackageResources.app_js),
        .init("charts.js", PackageResources.charts_js),
        .init("compose-audience.js", PackageResources.compose_audience_js),
        .init("compose-draft.js", PackageResources.compose_draft_js),
        .init("compose-silent.js", PackageResources.compose_silent_js),
        .init("console.css", PackageResources.console_css),
        .init("dom.js", PackageResources.dom_js),
        .init("events.js", PackageResources.events_js),
        .init("icon-tidings.svg", PackageResources.icon_tidings_svg),
        .init("index.html", PackageResources.index_html),
        .init("ios-delivery.md", PackageResources.ios_delivery_md),
        .init("legs-search.js", PackageResources.legs_search_js),
        .init("legs.js", PackageResources.legs_js),
        .init("memory.js", PackageResources.memory_js),
        .init("page-apps.js", PackageResources.page_apps_js),
        .init("page-audit.js", PackageResources.page_audit_js),
        .init("page-compose.js", PackageResources.page_compose_js),
        .init("page-conversation.js", PackageResources.page_conversation_js),
        .init("page-conversations.js", PackageResources.page_conversations_js),
        .init("page-credentials.js", PackageResources.page_credentials_js),
        .init("page-device.js", PackageResources.page_device_js),
        .init("page-message.js", PackageResources.page_message_js),
        .init("page-messages.js", PackageResources.page_messages_js),
        .init("page-operators.js", PackageResources.page_operators_js),
        .init("page-overview.js", PackageResources.page_overview_js),
        .init("page-people.js", PackageResources.page_people_js),
        .init("page-person.js", PackageResources.page_person_js),
        .init("page-phones.js", PackageResources.page_phones_js),
        .init("page-push.js", PackageResources.page_push_js),
        .init("page-pushes.js", PackageResources.page_pushes_js),
        .init("page-reference.js", PackageResources.page_reference_js),
        .init("page-settings.js", PackageResources.page_settings_js),
        .init("page-signin.js", PackageResources.page_signin_js),
        .init("page-webhooks.js", PackageResources.page_webhooks_js),
        .init("password.js", PackageResources.password_js),
        .init("payload.js", PackageResources.payload_js),
        .init("phone-app.js", PackageResources.phone_app_js),
        .init("phone-controls.js", PackageResources.phone_controls_js),
        .init("phone-gestures.js", PackageResources.phone_gestures_js),
        .init("phone-icons.js", PackageResources.phone_icons_js),
        .init("phone-link.js", PackageResources.phone_link_js),
        .init("phone-notices.js", PackageResources.phone_notices_js),
        .init("phone-panel.js", PackageResources.phone_panel_js),
        .init("phone-patch.js", PackageResources.phone_patch_js),
        .init("phone-rows.js", PackageResources.phone_rows_js),
        .init("phone-scenario-words.js", PackageResources.phone_scenario_words_js),
        .init("phone-scenario-writer.js", PackageResources.phone_scenario_writer_js),
        .init("phone-scenario.js", PackageResources.phone_scenario_js),
        .init("phone-system.js", PackageResources.phone_system_js),
        .init("phone-views.js", PackageResources.phone_views_js),
        .init("phone.css", PackageResources.phone_css),
        .init("phone.js", PackageResources.phone_js),
        .init("phones-page.css", PackageResources.phones_page_css),
        .init("router.js", PackageResources.router_js),
        .init("routes.js", PackageResources.routes_js),
        .init("session.js", PackageResources.session_js),
        .init("text-en.js", PackageResources.text_en_js),
        .init("text-pages-en.js", PackageResources.text_pages_en_js),
        .init("text-pages-zh-Hans.js", PackageResources.text_pages_zh_Hans_js),
        .init("text-phones-en.js", PackageResources.text_phones_en_js),
        .init("text-phones-zh-Hans.js", PackageResources.text_phones_zh_Hans_js),
        .init("text-zh-Hans.js", PackageResources.text_zh_Hans_js),
        .init("text.js", PackageResources.text_js),
        .init("tokens.css", PackageResources.tokens_css),
        .init("trace-words.js", PackageResources.trace_words_js),
        .init("trace.js", PackageResources.trace_js),
        .init("widgets.js", PackageResources.widgets_js),
    ]

    /// By the ending of its name; nil for one that no page may have.
    package var contentType: String? {
        switch self.name.split(separator: ".").last {
        case "html": "text/html; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "js": "text/javascript; charset=utf-8"
        case "md": "text/markdown; charset=utf-8"
        case "svg": "image/svg+xml"
        default: nil
        }
    }
}
