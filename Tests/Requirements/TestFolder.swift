public import Foundation

/// Names a folder for one test. All of a process lie in one, which is deleted as the process ends.
public func testFolder() -> URL { folderOfProcess.appendingPathComponent(UUID().uuidString) }

private let folderOfProcess: URL = {
    atexit { try? FileManager.default.removeItem(at: folderOfProcess) }
    let number = ProcessInfo.processInfo.processIdentifier
    return FileManager.default.temporaryDirectory.appendingPathComponent("tidings-tests-\(number)")
}()
