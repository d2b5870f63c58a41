// Swift Testing declares that a file which imports both Testing and a module named UIKit gets `_Testing_UIKit` as well. On Linux
// the toolchain brings no such module, and the compiler stops. This one is empty: it lets tests of apps import both.
