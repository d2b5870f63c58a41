package import PhoneCore
package import TidingsModel

extension PhoneTerminal {
    /// The phone's face as text in a frame: status bar, banners, the screen of the app in the foreground, the notification list.
    ///
    /// - Parameters:
    ///   - screen: what the `screen` command answers.
    ///   - views: the windows of the app in the foreground, back to front.
    ///   - columns, rows: the size within the frame.
    package static func picture(screen: JSONValue, views: [ViewNode], columns: Int, rows: Int) -> [String] {
        var snapshot = PhoneSnapshot(screen: screen)
        snapshot.views = views
        return self.picture(of: snapshot, columns: columns, rows: rows)
    }

    static func picture(of snapshot: PhoneSnapshot, columns: Int, rows: Int) -> [String] {
        let bar = String(repeating: "─", count: columns)
        return ["┌\(bar)┐"]
            + PhonePane(snapshot, columns: columns, rows: rows).face.map { spans in
                "│\(Line(spans, columns: columns).text)│"
            } + ["└\(bar)┘"]
    }
}
