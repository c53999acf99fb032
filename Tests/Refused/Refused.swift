// What the compiler must refuse or warn about in the Swift 6 language mode. `.ci/refused` compiles this file, and
// describes how lines are marked. A line without a mark must get neither an error nor a warning.
import Observation
import UDI

protocol Local: AnyObject { var count: Int { get set } }
final class Counter: Local { var count = 0 }
final class Report { var counter: Counter? }
final class Archive: Sendable {
  var counter: Counter? {
    get { nil }
    set {}
  }
}
struct Reading: Sendable { let count: Int }

class Row: UDIFinalObject { let _attachedContext = UDIAttachment() }  // refused: non-final class 'Row' cannot safely
final class LastRow: UDIFinalObject { let _attachedContext = UDIAttachment() }

nonisolated func verbs(_ context: UDIContext, _ counter: Counter) throws {
  context.bind(counter, as: (any Local).self)  // refused
  context.multiBind(counter, as: (any Local).self)  // refused
  context.provide(counter)  // refused
  _ = context.link((any Local).self)  // refused
  _ = context.registrations(of: (any Local).self).first?.key  // warned: property 'key'
  _ = context.linkAll((any Local).self)  // refused
  _ = context.link((any Local).self, fresh: true)  // refused
  _ = try context.require((any Local).self)  // refused
  _ = context.registrations(of: (any Local).self).first?.link()  // refused
}

nonisolated func waiting(_ context: UDIContext) async throws {
  context.register(Counter.self) { Counter() }  // refused: cannot be called from outside of the actor
  context.provide(Counter())  // refused: cannot be called from outside of the actor
  context.bind(Counter(), as: (any Local).self)  // refused: cannot be called from outside of the actor
  _ = try await context.obtain((any Local).self)  // refused: can not be returned from main actor-isolated
  _ = try await context.linkWhenAvailable((any Local).self)  // refused: can not be returned from main actor-isolated
}

/// Nothing else can use what is new, so the compiler only warns, because the verbs are `@preconcurrency`.
nonisolated func new(_ context: UDIContext) {
  context.provide(Counter())  // warned: call to main actor-isolated instance method 'provide
  context.bind(Counter(), as: (any Local).self)  // warned: call to main actor-isolated instance method 'bind
  _ = context.updates(ofAll: (any Local).self)  // warned: call to main actor-isolated instance method 'updates
}

nonisolated func rules(_ context: UDIContext) -> sending Report {
  let report = Report()
  context.rules(for: Report.self).inject(\.counter)  // refused: call to main actor-isolated instance method
  context.rules(for: Archive.self).inject(\.counter)  // refused: call to main actor-isolated instance method
  context.inject(into: report)  // refused
  return report
}

@MainActor final class Panel: @MainActor Local { var count = 0 }

nonisolated func conversions(_ context: UDIContext) {
  context.register((any Local & Sendable).self) { try $0.require(Panel.self) }  // refused: main actor-isolated
}

nonisolated func factories(_ context: UDIContext, _ counter: Counter) {
  context.register(Reading.self) { Reading(count: counter.count) }  // refused
}

final class Tool: UDIObject {
  let _attachedContext = UDIAttachment()
  var local: (any Local)?
  func didAttachContext() {
    bind(Counter(), as: (any Local).self)  // refused
    link(\.local)  // refused
    link(&local)  // refused
    _ = linkInLine((any Local).self)  // refused
    _ = link((any Local).self, fresh: true)  // refused
    _ = linkAll((any Local).self)  // refused
    _ = try? require((any Local).self)  // refused
    _ = try? require() as any Local  // refused
  }
}

// MARK: How classes take part: these messages are explained in the article "What the compiler says"

final class Unisolated: UDIObject {
  let _attachedContext = UDIAttachment()
  func didAttachContext() {
    bind(self, as: Unisolated.self)  // refused: sending 'self' risks causing data races
  }
}

@MainActor final class OnTheMainActor {
  let _attachedContext = UDIAttachment()
  func didAttachContext() {}
}
extension OnTheMainActor: UDIObject {}  // refused: crosses into main actor-isolated code and can cause data races

actor Desk {
  let _attachedContext = UDIAttachment()
  func didAttachContext() {}
}
extension Desk: UDIObject {}  // refused: crosses into actor-isolated code and can cause data races

final class WithAWrapper: UDIObject, Sendable {
  let _attachedContext = UDIAttachment()
  @Linked var clock: (any Clock)?  // refused: stored property '_clock' of 'Sendable'-conforming class
  func didAttachContext() {}
}

final class WithoutAHook {
  let _attachedContext = UDIAttachment()
}
extension WithoutAHook: UDIObject {}  // refused: type 'WithoutAHook' does not conform to protocol 'UDIObject'

/// A public class, whose members are not.
public final class HalfPublic {
  let _attachedContext = UDIAttachment()
  func didAttachContext() {}
}
extension HalfPublic: UDIObject {}  // refused: property '_attachedContext' must be declared public

// MARK: A type that would be inferred by mistake

protocol Clock: Sendable {}
struct SystemClock: Clock {}

nonisolated func inferred(_ context: UDIContext, _ tool: Tool) {
  // Without a written type, the type would be that of the default, `SystemClock`, and not `any Clock`.
  let _: any Clock = context.link() ?? SystemClock()  // refused
  let _: any Clock = context.link(with: 5) ?? SystemClock()  // refused
  let _: any Clock = context.link(fresh: true) ?? SystemClock()  // refused
  let _: any Clock = context.link(fresh: true, with: 5) ?? SystemClock()  // refused
  let _: any Clock = tool.linkInLine() ?? SystemClock()  // refused
  let _: any Clock = tool.link(with: 5) ?? SystemClock()  // refused
  let _: any Clock = tool.link(fresh: true) ?? SystemClock()  // refused
  let _: any Clock = tool.link(fresh: true, with: 5) ?? SystemClock()  // refused
}

@MainActor func inferredOnMainActor(_ context: UDIContext, _ tool: Tool) {
  let _: any Local = context.link() ?? Counter()  // refused
  let _: any Local = context.link(with: 5) ?? Counter()  // refused
  let _: any Local = context.link(fresh: true) ?? Counter()  // refused
  let _: any Local = context.link(fresh: true, with: 5) ?? Counter()  // refused
  let _: any Local = tool.linkInLine() ?? Counter()  // refused
  let _: any Local = tool.link(with: 5) ?? Counter()  // refused
  let _: any Local = tool.link(fresh: true) ?? Counter()  // refused
  let _: any Local = tool.link(fresh: true, with: 5) ?? Counter()  // refused
}

// MARK: Lookups without a type

struct Alarm: Clock { init(clock: (any Clock)?) {} }

nonisolated func withoutType(_ context: UDIContext) {
  context.register((any Clock).self) { Alarm(clock: $0.link()) }  // refused: name the type, as in `link(
  context.register { context in Alarm(clock: context.link(named: "x")) }  // refused: name the type, as in `link(
}

final class Sleeper: UDIObject {
  let _attachedContext = UDIAttachment()
  func didAttachContext() {
    let _: (any Clock)? = link()  // refused: name the type, as in `link(
  }
}

// MARK: An initialiser without parameters

struct Plain: Clock { init() {} }
struct Composed: Clock {
  init(shop: Shop) {}
  init() {}
}

nonisolated func withoutParameters(_ context: UDIContext) {
  context.register((any Clock).self, using: Plain.init)  // refused: write `{ Thing() }`
  context.register(named: "x", lifetime: .context, using: Plain.init)  // refused: with none, write
  context.register(using: { Plain() }).onClose { _ in }  // refused: with none, write
  context.register((any Clock).self, using: Composed.init)
  context.register((any Clock).self) { Plain() }
}

@MainActor func withoutParametersOnMainActor(_ context: UDIContext) {
  context.register(using: Counter.init)  // refused: with none, write
  context.register((any Local).self, using: { () async throws in Counter() })  // refused: with none, write
}

// MARK: Twelve mistakes with `register`, `using:`, `onClose` and `provide`

protocol Store: Sendable {}
protocol Catalogue: Sendable { associatedtype Item }
struct Disk: Store {}
struct Shelf: Catalogue { typealias Item = Int }
final class Server: Sendable {
  init(port: Int, store: any Store) {}
  static func open() async throws -> Server { Server(port: 80, store: Disk()) }
  func stop() async throws {}
}
@MainActor final class Toolbar { init(title: String) {} }
enum Place { case main }
extension UDIKey<any Store> { static var store: Self { Self() } }

// What a line "was" is the first line of the compiler's message when `onCreate:`, `onClose:` and `metadata:` were arguments
// of the forms, and `register` and `provide` took keys, too. Where nothing is said, the message was the same, up to the name
// of the form.

// swift-format-ignore
nonisolated func twelveMistakes(_ context: UDIContext, _ disk: Disk?) {
  // 1. A wrong label. The first was: extra arguments at positions #2, #3 in call. The others were: no exact matches in call
  // to instance method 'register', and 'provide'
  context.register((any Store).self, scope: .context) { Disk() }  // refused: extraneous argument label 'scope:' in call
  context.register((any Store).self, name: "main") { Disk() }  // refused: the label of a name is `named:`
  context.provide(Disk(), name: "main")  // refused: the label of a name is `named:`

  // 2. A missing `any`. It may be missing before a protocol without associated types.
  context.register(Catalogue.self) { Shelf() }  // warned: use of protocol 'Catalogue' as a type must be written 'any Catalogue'
  context.register(Store.self) { Disk() }

  // 3. A class that is not `Sendable`, off the main actor. Was: call to main actor-isolated instance method 'register(…)' in a
  // synchronous nonisolated context, without a word of `Sendable`
  context.register(Counter.self) { Counter() }  // warned: call to main actor-isolated instance method 'register(_:named:lifetime:replaces:notSendable:fileID:line:_:)' in a synchronous nonisolated context

  // 4. An initialiser that belongs to an actor.
  context.register(Toolbar.self) { Toolbar(title: "") }  // refused: call to main actor-isolated initializer 'init(title:)' in a synchronous nonisolated context

  // 5. A closure that returns nothing. Without the type, nothing is what it registers.
  context.register(Server.self) { context in print(context) }  // refused: cannot convert value of type '()' to closure result type 'Server?'
  context.register((any Store).self) { let disk = Disk(); print(disk) }  // refused: missing return in closure expected to return '(any Store)?'
  context.register { let disk = Disk(); print(disk) }

  // 6. An optional.
  context.provide(disk)  // warned: unwrap it first: a lookup without the question mark finds no optional

  // 7. Two closures. The first was right; the second was: no exact matches in call to instance method 'register'
  context.register(Server.self) { Server(port: 80, store: Disk()) } onClose: { try await $0.stop() }  // refused: extra trailing closure passed in call
  context.register(using: Server.init(port:store:)) { try await $0.stop() }  // refused: `using:` takes what has parameters and makes the type; with none, write `{ Thing() }`; chain `onClose`
  context.register(Server.self) { _ in Server(port: 80, store: Disk()) }.onClose { try await $0.stpo() }  // refused: value of type 'Server' has no member 'stpo'

  // 8. An argument of the wrong type. The second was: no exact matches in call to instance method 'provide'. The third was:
  // cannot infer type of closure parameter '$0' without a type annotation. The fourth was: no exact matches in call to
  // instance method 'register'
  context.register(Server.self) { Server(port: "80", store: try $0.require((any Store).self)) }  // refused: cannot convert value of type 'String' to expected argument type 'Int'
  context.provide(Shelf(), as: Disk.self)  // refused: cannot convert value of type 'Shelf' to expected argument type 'Disk'
  context.register(Server.self) { Server(port: 80, store: try $0.require(Shelf.self)) }  // refused: cannot convert value of type 'Shelf.Type' to expected argument type 'UDIKey<any Store>'
  context.register((any Store).self, using: Server.init(port:store:))  // refused: `using:` takes what has parameters and makes the type

  // 9. `async` without `await`.
  context.register(Server.self) { try Server.open() }  // refused: 'async' call in a function that does not support concurrency
  context.register(Server.self) { try await Server.open() }.onClose { try $0.stop() }  // refused: expression is 'async' but is not marked with 'await'

  // 10. A key of another type, or where no key can be. Second and third were: cannot convert value of type 'Shelf' to closure
  // result type '(any Store)?'; argument type 'Shelf' does not conform to expected type 'Store'
  context.register(Shelf.self) { try $0.require(.store) }  // refused: cannot convert value of type 'any Store' to closure result type 'Shelf?'
  context.register(.store) { Shelf() }  // refused: only lookups take keys: give the type and the name
  context.provide(Shelf(), as: .store)  // refused: only lookups take keys: give the type and the name

  // 11. An unused result.
  context.register(Disk.self) { Disk() }.link()  // warned: result of call to 'link()' is unused

  // 12. A name that is no text.
  context.register((any Store).self, named: Place.main) { Disk() }  // refused: cannot convert value of type 'Place' to expected argument type 'UDIName'
}

// Code that is right as it is.

@MainActor func allowed(_ context: UDIContext) throws {
  context.bind(Counter(), as: (any Local).self)
  _ = try context.require((any Local).self)
  let _: any Local = try context.require()
  context.rules(for: Report.self).inject(\.counter)
  context.inject(into: Report())
  context.register(Counter.self) { Counter() }.implements((any Local).self)
}

nonisolated func allowed(_ rules: UDIRules<Report>) async {
  await rules.inject(\.counter)
  await MainActor.run { _ = rules.inject(\.counter) }
}

// Optionals given or asked for by mistake.

protocol Service: Sendable {}
struct Shop: Service {}
final class Window: Local { var count = 0 }

nonisolated func optionals(_ context: UDIContext, _ shop: Shop?, _ service: (any Service)?, _ number: Int?) {
  context.provide(service)  // warned: unwrap it first: a lookup without
  context.provide(shop, as: (any Service)?.self)  // warned: unwrap it first: a lookup without
  context.provide(service, named: "main")  // warned: unwrap it first: a lookup without
  _ = context.link(Shop.self, named: UDIName(number))  // warned: write `value.map { UDIName($0) }`
  _ = UDIName(Optional("text"))  // warned: unwrap it first
  _ = UDIName(nil)  // refused: generic parameter
  context.bind(Tool(), as: Tool.self, named: number)  // refused: cannot convert value of type 'Int?'
}

@MainActor func optionals(_ context: UDIContext, _ window: Window?, _ local: (any Local)?) {
  context.provide(window)  // warned: unwrap it first: a lookup without
  context.provide(local, named: "main")  // warned: unwrap it first: a lookup without
  _ = UDIName(window)  // warned: unwrap it first
}

/// Belongs to the main actor, and is neither `Sendable` nor `Hashable`.
struct Token { let window: Window }

final class Ledger: UDIObject {
  let _attachedContext = UDIAttachment()
  @Required var service: (any Service)?  // warned: drop the question mark, or use @Linked
  @Required(named: "x") var other: (any Service)?  // warned: drop the question mark, or use @Linked
  @Required(search: .local) var shop: Shop?  // warned: drop the question mark, or use @Linked
  @Required var local: (any Local)?  // warned: drop the question mark, or use @Linked
  @Required var allowed: any Service
  @Required(named: "main", search: .local) var alsoAllowed: any Local
  func didAttachContext() {}
}

nonisolated func allowedOptionals<Value>(
  _ context: UDIContext, _ shop: Shop?, _ number: Int?, _ value: Value, _ tool: Tool
) throws -> UDIName {
  if let shop {
    context.provide(shop)
    context.provide(shop, as: (any Service).self, named: number.map { UDIName($0) })
  }
  let name: UDIName? = nil
  let service: (any Service)? = try context.require()
  let same: (any Service)? = try context.require((any Service).self, named: name)
  let found: (any Service)? = try tool.require((any Service).self, named: "number \(7)")
  let text = "text"
  _ = (service, same, found, UDIName(text), UDIName(7), UDIName([number]))
  return UDIName(value)
}

@MainActor func allowedOptionals(_ context: UDIContext, _ token: Token) throws {
  context.provide(Window())
  context.provide(Window(), as: (any Local).self, named: UDIName(token))
  let local: (any Local)? = try context.require()
  let same: (any Local)? = try context.require((any Local).self)
  _ = (local, same, UDIName(token))
}

// Enums that may get new cases. A mark is at the end of its line, however long the line is.

// swift-format-ignore
func switches(_ error: UDITreeError, _ misuse: UDIMisuse.Kind, _ storage: UDILifetime.Storage) {
  switch error { case .duplicateTag, .cycle, .closed: break }  // refused: may have additional unknown values
  switch misuse { case .unattached, .contextGone, .notMade, .needNotMet, .valueHeldWeakly, .notAttached, .registeredTwice, .contextClosed, .unclosed, .closingFailed, .operationFailed, .secondCopy: break }  // refused: may have additional unknown values
  switch storage { case .strong, .weak, .custom: break }  // refused: may have additional unknown values
  switch error {
  case .duplicateTag, .cycle, .closed: break
  @unknown default: break
  }
  switch misuse {
  case .unattached, .contextGone, .notMade, .needNotMet, .valueHeldWeakly, .notAttached, .registeredTwice, .contextClosed, .unclosed, .closingFailed, .operationFailed, .secondCopy: break
  @unknown default: break
  }
  switch storage {
  case .strong, .weak, .custom: break
  @unknown default: break
  }
}

// swift-format-ignore
func switches(_ cause: UDIExplanation.Cause, _ finding: UDIEntry.Kind) {
  switch finding { case .live, .dead, .replaced, .withdrawn, .kept, .provider, .override: break }  // refused: may have additional unknown values
  switch finding {
  case .live, .dead, .replaced, .withdrawn, .kept, .provider, .override: break
  @unknown default: break
  }
  switch cause { case .found, .cameLater, .dead, .replaced, .withdrawn, .otherNames, .otherType, .moreGeneralType, .outOfReach, .inScope, .unattached, .notRegistered, .contextRemoved, .otherArguments, .argumentsNotHashable, .isolatedElsewhere, .asynchronous, .notSendable, .argumentNotSendable, .factoryReturnedNil, .failed, .cycle, .tooDeep, .notConvertible, .noScope, .scopeIsAbove, .contextGone, .contextClosed: break }  // refused: may have additional unknown values
  switch cause {
  case .found, .cameLater, .dead, .replaced, .withdrawn, .otherNames, .otherType, .moreGeneralType, .outOfReach, .inScope, .unattached: break
  case .notRegistered, .contextRemoved, .otherArguments, .argumentsNotHashable, .isolatedElsewhere, .asynchronous, .notSendable: break
  case .argumentNotSendable, .factoryReturnedNil, .failed, .cycle, .tooDeep, .notConvertible, .noScope, .scopeIsAbove, .contextGone, .contextClosed: break
  @unknown default: break
  }
}

// Mistakes with factories, wrappers and attachments.

final class Gear: Sendable {}

final class NoObject {
  @Linked var service: Gear?  // refused: requires that 'NoObject' conform to 'UDIObject'
}
struct NoClass {
  @Linked var service: Gear?  // refused: use it in a class that conforms to UDIObject
}
final class Declarations: UDIObject {
  let _attachedContext = UDIAttachment()
  func didAttachContext() {}
  @Linked var linked: Gear? = nil  // refused: remove the initial value: a property with @
  @Linked(keeps: .never) var inLine: Gear? = nil  // refused: remove the initial value: a property with @
  @AppLinked var app: Gear? = nil  // refused: extra argument 'wrappedValue' in call
  @Required var required: Gear = Gear()  // refused: remove the initial value: a property with @
  // The compiler's second line names the mistake: property type 'Gear' does not match 'wrappedValue' type 'Dependency?'
  @Linked var notOptional: Gear  // refused: generic parameter 'Dependency' could not be inferred
}
@MainActor @Observable final class Observed: @MainActor UDIFinalObject {
  @ObservationIgnored let _attachedContext = UDIAttachment()
  @Followed var gear: Gear?  // refused: property wrapper cannot be applied to a computed property
}
