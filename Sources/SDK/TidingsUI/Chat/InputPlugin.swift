public import UIKit

/// Something the + of the input bar offers, such as sending a photo or a place.
///
/// ```swift
/// struct PlacePlugin: InputPlugin {
///     func title(in words: InterfaceWords) -> String { "Place" }
///     var image: UIImage? { UIImage(systemName: "mappin") }
///     func perform(in screen: ConversationViewController) {
///         screen.send(.location(.init(latitude: 52.52, longitude: 13.4)))
///     }
/// }
/// ```
@MainActor public protocol InputPlugin {
    /// Returns the title in the menu.
    func title(in words: InterfaceWords) -> String
    /// The image beside the title; nil for none.
    var image: UIImage? { get }
    /// The person has chosen it.
    func perform(in screen: ConversationViewController)
}
