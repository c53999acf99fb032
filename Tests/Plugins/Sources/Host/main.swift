import Foundation
import UDI

// A program that loads plug-ins, and prints what they have provided: nothing if they do not use its tree. `.ci/plugins`
// runs it.

AppContext.provide("the program's")
for path in CommandLine.arguments.dropFirst() {
  guard let plugin = dlopen(path, RTLD_NOW), let begin = dlsym(plugin, "begin") else {
    fatalError(String(cString: dlerror()))
  }
  unsafeBitCast(begin, to: (@convention(c) () -> Void).self)()
}
print("found: \(AppContext.linkAll(Int.self).sorted())")
